/* A lock of readers and a writer, made of counts under a mutex: who may not enter asks again at once. RIGHT=0: a reader does not leave. */
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int writers, readers;

static bool enters(bool writes) {
    pthread_mutex_lock(&mutex);
    bool may = writers == 0 && (!writes || readers == 0);
    if (may) {
        *(writes ? &writers : &readers) += 1;
    }
    pthread_mutex_unlock(&mutex);
    return may;
}

static void leaves(int *count) {
    pthread_mutex_lock(&mutex);
    *count -= 1;
    pthread_mutex_unlock(&mutex);
}

static void *writer(void *unused) {
    while (!enters(true)) {
    }
    leaves(&writers);
    return unused;
}

static void *reader(void *unused) {
    while (!enters(false)) {
    }
    if (RIGHT) {
        leaves(&readers);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
