// One thread alone uses a buffer, and main frees it. That is right if main has joined the thread (JOIN), has heard of the thread's end (POST),
// or takes the buffer away under the lock that the thread holds meanwhile (LOCK).
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

static long *buffer;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t done;

static void *uses(void *unused) {
    pthread_mutex_lock(&lock);
    long *mine = buffer;
#ifndef LOCK
    pthread_mutex_unlock(&lock);
#endif
    if (mine) {
        mine[4] = 7;
        mine[5] = mine[4] + 1;
    }
#ifdef LOCK
    pthread_mutex_unlock(&lock);
#endif
#ifdef POST
    sem_post(&done);
#endif
    return unused;
}

int main(void) {
    sem_init(&done, 0, 0);
    buffer = calloc(8, sizeof *buffer);
    pthread_t thread;
    pthread_create(&thread, NULL, uses, NULL);
    usleep(1000);
#ifdef POST
    sem_wait(&done);
#endif
#ifdef JOIN
    pthread_join(thread, NULL);
#endif
    pthread_mutex_lock(&lock);
    long *old = buffer;
    buffer = NULL;
    pthread_mutex_unlock(&lock);
    free(old);
#ifndef JOIN
    pthread_join(thread, NULL);
#endif
    return 0;
}
