// The first thread takes one of two permits. Then it and a second thread each take one more if one is left: its twin checks first and takes
// later.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int permits = 2;

static int take(void) {
    int left = atomic_load(&permits);
    while (left > 0 && !atomic_compare_exchange_strong(&permits, &left, left - 1)) {}
    return left > 0;
}

static void *worker(void *unused) {
    take();
    return unused;
}

int main(void) {
    pthread_t thread;
    take();
    pthread_create(&thread, NULL, worker, NULL);
    take();
    pthread_join(thread, NULL);
    printf("%d left\n", permits);
    return permits < 0;
}
