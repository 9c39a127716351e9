/* Two values that must change together, changed one after the other. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t ma = PTHREAD_MUTEX_INITIALIZER, mb = PTHREAD_MUTEX_INITIALIZER;
static int d1, d2;

static void *w(void *x) {
    pthread_mutex_lock(&ma);
    d1 = 1;
    pthread_mutex_unlock(&ma);
    pthread_mutex_lock(&mb);
    d2 = d1 + 1;
    pthread_mutex_unlock(&mb);
    return x;
}

static void *r(void *x) {
    int t1 = -1, t2 = -1;
    pthread_mutex_lock(&ma);
    if (d1 == 0) {
        pthread_mutex_unlock(&ma);
        return x;
    }
    t1 = d1;
    pthread_mutex_unlock(&ma);
    pthread_mutex_lock(&mb);
    t2 = d2;
    pthread_mutex_unlock(&mb);
    if (t2 != t1 + 1) {
        fprintf(stderr, "%d %d\n", t1, t2);
        abort();
    }
    return x;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&b, NULL, r, 0);
    pthread_create(&a, NULL, w, 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
