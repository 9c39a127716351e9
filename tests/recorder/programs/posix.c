// Semaphores, barriers, rwlocks, spin locks, thread-locals, recursive mutexes, timed waits; the same output in every schedule.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static sem_t permits, done;
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_mutex_t recursive, mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int produced, seen_in_all, spun, serial;
static __thread int mine;

static struct timespec soon(void) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += 2000000;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

static void *work(void *argument) {
    long number = (long)argument;
    mine = (int)number;
    sem_wait(&permits);
    pthread_rwlock_wrlock(&rwlock);
    produced += mine;
    pthread_rwlock_unlock(&rwlock);
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) serial++;
    pthread_rwlock_rdlock(&rwlock);
    int seen = produced;
    pthread_rwlock_unlock(&rwlock);
    pthread_spin_lock(&spin);
    spun += mine;
    seen_in_all += seen;
    pthread_spin_unlock(&spin);
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    sem_post(&done);
    return (void *)(number * 2);
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &attributes);
    sem_init(&permits, 0, 1);
    sem_init(&done, 0, 0);
    pthread_barrier_init(&barrier, 0, 3);
    pthread_spin_init(&spin, 0);
    pthread_t threads[3];
    long results = 0;
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, (void *)(i + 1));
    sem_post(&permits);
    sem_post(&permits);
    for (int i = 0; i < 3; i++) {
        void *result;
        sem_wait(&done);
        pthread_join(threads[i], &result);
        results += (long)result;
    }
    printf("%d %d %d %ld %d %d\n", produced, seen_in_all, spun, results, serial, mine);

    struct timespec at = soon();
    int semaphore = sem_timedwait(&permits, &at) == 0 ? 0 : errno;
    pthread_mutex_lock(&mutex);
    at = soon();
    int condition = pthread_cond_timedwait(&never, &mutex, &at);
    int held = pthread_mutex_trylock(&mutex);
    at = soon();
    int timed = pthread_mutex_timedlock(&mutex, &at);
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_wrlock(&rwlock);
    int reader = pthread_rwlock_tryrdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    printf("%s, %s, %s, %s, %s\n", strerror(semaphore), strerror(condition), strerror(held), strerror(timed), strerror(reader));
    return 3;
}
