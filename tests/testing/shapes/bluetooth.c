/* A driver that is stopped while another thread enters it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int stopping, stopped, event, pending = 1;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static int inc(void) {
    if (stopping)
        return -1;
    pthread_mutex_lock(&m);
    pending++;
    pthread_mutex_unlock(&m);
    return 0;
}

static void dec(void) {
    pthread_mutex_lock(&m);
    int p = --pending;
    pthread_mutex_unlock(&m);
    if (p == 0)
        event = 1;
}

static void *stop(void *x) {
    stopping = 1;
    dec();
    if (event)
        stopped = 1;
    return x;
}

static void *add(void *x) {
    if (inc() == 0) {
        if (stopped) {
            fprintf(stderr, "used after stop\n");
            abort();
        }
    }
    dec();
    return x;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, add, 0);
    pthread_create(&b, NULL, stop, 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
