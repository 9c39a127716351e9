// Threads that are cancelled while they wait.
#include "hooks.h"
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int cleaned;

static void clean(void *unused) {
    (void)unused;
    cleaned++;
    pthread_mutex_unlock(&mutex);
}

static void *wait_for_condition(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(clean, NULL);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(0);
    return unused;
}

static void *wait_for_semaphore(void *unused) {
    for (;;)
        sem_wait(&semaphore);
    return unused;
}

static void *join(void *argument) {
    pthread_join(*(pthread_t *)argument, NULL);
    return NULL;
}

static void *doze(void *unused) {
    for (;;)
        sleep(100);
    return unused;
}

static void *be_stubborn(void *unused) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    sem_wait(&semaphore);
    pthread_setcancelstate(before, NULL);
    pthread_testcancel();
    return unused;
}

static void cancel(pthread_t thread) {
    void *result;
    assert(!pthread_cancel(thread) && !pthread_join(thread, &result) && result == PTHREAD_CANCELED);
}

int main(void) {
    pthread_t threads[5];
    pthread_create(&threads[0], NULL, wait_for_condition, NULL);
    pthread_create(&threads[1], NULL, wait_for_semaphore, NULL);
    pthread_create(&threads[2], NULL, join, &threads[1]);
    pthread_create(&threads[3], NULL, doze, NULL);
    for (int i = 0; i < 50; i++)
        usleep(200);
    cancel(threads[0]);
    cancel(threads[2]);
    cancel(threads[1]);
    cancel(threads[3]);
    assert(cleaned == 1 && !pthread_mutex_trylock(&mutex) && !pthread_mutex_unlock(&mutex));
    pthread_create(&threads[4], NULL, be_stubborn, NULL);
    usleep(1000);
    pthread_cancel(threads[4]);
    usleep(1000);
    sem_post(&semaphore);
    void *result;
    assert(!pthread_join(threads[4], &result) && result == PTHREAD_CANCELED);
    puts("ok");
}
