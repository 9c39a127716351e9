// Two threads take tickets until none is left. One may take a ticket that the other has taken; then the count goes below zero, and a thread
// goes on for long before it sees that something is wrong.
#include <pthread.h>
#include <stdlib.h>

static int left = 5;
static int taken[2];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static int some_left(void) {
    pthread_mutex_lock(&m);
    int some = left != 0;
    pthread_mutex_unlock(&m);
    return some;
}

static int take(void) {
    pthread_mutex_lock(&m);
    int got = 1;
#ifdef RIGHT
    got = left > 0;
#endif
    left -= got;
    pthread_mutex_unlock(&m);
    return got;
}

static void *run(void *arg) {
    int *own = arg;
    while (some_left()) {
        *own += take();
        if (*own > 60000) abort();
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, &taken[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return taken[0] + taken[1] != 5;
}
