// Handlers that interrupt hooks and waits.
#include "hooks.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static int counter;
static volatile sig_atomic_t ticks;
static sem_t semaphore;

static void tick(int signal) {
    (void)signal;
    ticks++;
    __foretrace_update4(&counter, 1, ADD, 1);
    __foretrace_store4(&counter, __foretrace_load4(&counter, 2), 3);
}

static void post(int signal) {
    (void)signal;
    sem_post(&semaphore);
}

static void nothing(int signal) { (void)signal; }

static void *run(void *unused) {
    for (int i = 0; i < 30000; i++) {
        __foretrace_store4(&counter, __foretrace_load4(&counter, 4), 5);
        __foretrace_branch(i, 6);
    }
    return unused;
}

static void alarm_in(int microseconds, int again) {
    struct itimerval timer = {{0, again}, {0, microseconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

int main(void) {
    sem_init(&semaphore, 0, 0);
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART}, found;
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGALRM, NULL, &found);
    assert(found.sa_handler == tick && found.sa_flags & SA_RESTART);
    alarm_in(300, 300);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    while (ticks < 3)
        __foretrace_load4(&counter, 7);
    alarm_in(0, 0);
    assert(signal(SIGALRM, post) == tick);
    alarm_in(20000, 0);
    while (sem_wait(&semaphore))
        assert(errno == EINTR);
    action = (struct sigaction){.sa_handler = nothing};
    sigaction(SIGALRM, &action, NULL);
    alarm_in(20000, 0);
    assert(sem_wait(&semaphore) == -1 && errno == EINTR);
    puts("ok");
}
