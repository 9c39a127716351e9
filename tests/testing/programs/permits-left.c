// The first thread takes one of two permits. Then it and a second thread each take one more if one is left. In the run that passes, whoever
// checks late finds none; the first thread's own take came before the second thread was there.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int permits = 2;

static int take(void) {
    if (atomic_load(&permits) < 1) return 0;
    atomic_fetch_sub(&permits, 1);
    return 1;
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
