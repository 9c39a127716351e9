/* A thread asks again and again whether another one is done, and gives up after five seconds, as tests do. It sleeps in between, or (BUSY) does
   not. Five seconds are enough, whatever the order of the threads. WRONG: the other one says that it is done before it is. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int lines;
static atomic_int done;

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}

static void *worker(void *argument)
{
    for (int i = 0; i < 3; i++) {
#ifdef WRONG
        if (i == 2)
            atomic_store(&done, 1);
#endif
        pthread_mutex_lock(&lock);
        lines++;
        pthread_mutex_unlock(&lock);
    }
    atomic_store(&done, 1);
    return argument;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    double begun = now();
    while (!atomic_load(&done)) {
        if (now() - begun > 5)
            return 2;
#ifdef BUSY
        sched_yield();
#else
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
#endif
    }
    pthread_mutex_lock(&lock);
    int seen = lines;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return seen != 3;
}
