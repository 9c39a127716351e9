// Threads that end in other ways: cancelled in waits and in the kernel, detached, with data that has destructors.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int made, destroyed, cleaned, detached;

static void make(void) { made++; }

static void destroy(void *data) {
    pthread_mutex_lock(&mutex);
    destroyed += *(int *)data;
    free(data);
    pthread_mutex_unlock(&mutex);
}

static void clean(void *unused) {
    (void)unused;
    cleaned++;
    pthread_mutex_unlock(&mutex);
}

static void *has_data(void *unused) {
    pthread_once(&once, make);
    int *data = malloc(sizeof *data);
    *data = 1;
    pthread_setspecific(key, data);
    return unused;
}

static void *waits(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(clean, 0);
    for (;;) pthread_cond_wait(&changed, &mutex);
    pthread_cleanup_pop(0);
    return unused;
}

static void *reads(void *fd) {
    char byte;
    return read(*(int *)fd, &byte, 1) ? fd : 0;
}

static void *is_detached(void *unused) {
    pthread_mutex_lock(&mutex);
    detached = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static int cancelled(pthread_t thread) {
    void *result;
    usleep(1000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result == PTHREAD_CANCELED;
}

int main(void) {
    pthread_t threads[3];
    pthread_key_create(&key, destroy);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, has_data, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    pthread_create(&threads[0], 0, waits, 0);
    int ended = cancelled(threads[0]);
    int fds[2];
    if (pipe(fds)) abort();
    pthread_create(&threads[0], 0, reads, &fds[0]);
    ended += cancelled(threads[0]);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&threads[0], &attributes, is_detached, 0);
    pthread_mutex_lock(&mutex);
    while (!detached) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_destroy(&mutex);
    pthread_mutex_init(&mutex, 0);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_destroy(&mutex);
    printf("%d %d %d %d %d\n", made, destroyed, cleaned, ended, detached);
}
