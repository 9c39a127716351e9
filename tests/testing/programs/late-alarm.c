/* A timer's handler counts what a thread counts, too. Most runs are over before the timer is. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

static atomic_int counted;

static void count(int signal)
{
    counted += signal == SIGALRM;
}

static void *counts(void *unused)
{
    counted++;
    return unused;
}

int main(void)
{
    struct itimerval soon = {{0, 0}, {1000, 0}};
    pthread_t thread;
    signal(SIGALRM, count);
    setitimer(ITIMER_REAL, &soon, NULL);
    pthread_create(&thread, NULL, counts, NULL);
    pthread_join(thread, NULL);
    return counted == 0;
}
