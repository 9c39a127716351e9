// Every kind of synchronisation object; the program checks what it gets.
#define _GNU_SOURCE
#include "hooks.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag c11_once = ONCE_FLAG_INIT;
static sem_t semaphore;
static mtx_t c11_mutex;
static cnd_t c11_condition;
static int queue[4], queued, shared, initialised, go;

static void initialise(void) { initialised++; }

static void *produce(void *unused) {
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&mutex);
        while (queued == 4)
            pthread_cond_wait(&emptied, &mutex);
        queue[queued++] = i;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *consume(void *unused) {
    (void)unused;
    uintptr_t sum = 0;
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&mutex);
        while (queued == 0)
            pthread_cond_wait(&filled, &mutex);
        sum += queue[--queued];
        pthread_cond_broadcast(&emptied);
        pthread_mutex_unlock(&mutex);
    }
    return (void *)sum;
}

static void *use_all(void *argument) {
    int id = (int)(intptr_t)argument;
    pthread_once(&once, initialise);
    call_once(&c11_once, initialise);
    for (int i = 0; i < 20; i++) {
        if (i % 4 == id) {
            pthread_rwlock_wrlock(&rwlock);
            __foretrace_store4(&shared, __foretrace_load4(&shared, 1) + 1, 2);
        } else {
            pthread_rwlock_rdlock(&rwlock);
            __foretrace_load4(&shared, 3);
        }
        pthread_rwlock_unlock(&rwlock);
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            __foretrace_store4(&shared, 100, 4);
        pthread_spin_lock(&spin);
        __foretrace_store4(&shared, __foretrace_load4(&shared, 5) + 1, 6);
        pthread_spin_unlock(&spin);
        sem_wait(&semaphore);
        sem_post(&semaphore);
        if (pthread_mutex_trylock(&mutex) == 0)
            pthread_mutex_unlock(&mutex);
        free(realloc(malloc(10 + i), 2000));
    }
    return NULL;
}

static struct timespec soon(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += 20000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

static int passed(struct timespec then) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec > then.tv_sec || (now.tv_sec == then.tv_sec && now.tv_nsec >= then.tv_nsec);
}

static void *time_out(void *unused) {
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    static sem_t none;
    struct timespec then = soon();
    pthread_mutex_lock(&mutex);
    int error = 0;
    while (error == 0)
        error = pthread_cond_timedwait(&never, &mutex, &then);
    assert(error == ETIMEDOUT && passed(then));
    pthread_mutex_unlock(&mutex);
    then = soon();
    errno = 0;
    assert(sem_timedwait(&none, &then) == -1 && errno == ETIMEDOUT && passed(then));
    usleep(1000);
    pthread_exit(unused);
}

static int c11(void *unused) {
    (void)unused;
    static thread_local int local = 5;
    mtx_lock(&c11_mutex);
    while (!go)
        cnd_wait(&c11_condition, &c11_mutex);
    mtx_unlock(&c11_mutex);
    return 7 + local;
}

static void kinds_of_mutexes(void) {
    pthread_mutexattr_t attributes;
    pthread_mutex_t recursive, checking;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &attributes);
    assert(!pthread_mutex_lock(&recursive) && !pthread_mutex_trylock(&recursive));
    assert(!pthread_mutex_unlock(&recursive) && !pthread_mutex_unlock(&recursive));
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &attributes);
    assert(pthread_mutex_unlock(&checking) == EPERM);
    assert(!pthread_mutex_lock(&checking) && pthread_mutex_lock(&checking) == EDEADLK);
    assert(!pthread_mutex_unlock(&checking));
    assert(!pthread_rwlock_wrlock(&rwlock) && pthread_rwlock_rdlock(&rwlock) == EDEADLK);
    assert(!pthread_rwlock_unlock(&rwlock));
}

int main(void) {
    kinds_of_mutexes();
    pthread_barrier_init(&barrier, NULL, 3);
    sem_init(&semaphore, 0, 2);
    pthread_spin_init(&spin, 0);
    mtx_init(&c11_mutex, mtx_plain);
    cnd_init(&c11_condition);
    pthread_t threads[6];
    thrd_t thread;
    pthread_create(&threads[0], NULL, produce, NULL);
    pthread_create(&threads[1], NULL, consume, NULL);
    for (intptr_t i = 0; i < 3; i++)
        pthread_create(&threads[2 + i], NULL, use_all, (void *)i);
    pthread_create(&threads[5], NULL, time_out, &shared);
    thrd_create(&thread, c11, NULL);
    void *result;
    for (int i = 0; i < 6; i++) {
        pthread_join(threads[i], &result);
        assert(i != 1 || (uintptr_t)result == 49 * 50 / 2);
    }
    assert(result == &shared);
    mtx_lock(&c11_mutex);
    go = 1;
    cnd_broadcast(&c11_condition);
    mtx_unlock(&c11_mutex);
    int c11_result;
    assert(thrd_join(thread, &c11_result) == thrd_success && c11_result == 12);
    assert(initialised == 2);
    assert(!sem_trywait(&semaphore) && !sem_trywait(&semaphore));
    assert(sem_trywait(&semaphore) == -1 && errno == EAGAIN);
    puts("ok");
}
