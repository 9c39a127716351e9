/* A token that is passed on before it is taken. */
#include <pthread.h>
#include <stdlib.h>

static int x1 = 1, x2 = 2, x3 = 1;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *a1(void *x) {
    pthread_mutex_lock(&m);
    x1 = (x3 + 1) % 4;
    pthread_mutex_unlock(&m);
    return x;
}

static void *a2(void *x) {
    pthread_mutex_lock(&m);
    x2 = x1;
    pthread_mutex_unlock(&m);
    return x;
}

static void *a3(void *x) {
    pthread_mutex_lock(&m);
    x3 = x2;
    pthread_mutex_unlock(&m);
    return x;
}

static void *ch(void *x) {
    pthread_mutex_lock(&m);
    int ok = x1 != x2 || x2 != x3;
    pthread_mutex_unlock(&m);
    if (!ok)
        abort();
    return x;
}

int main(void) {
    pthread_t a, b, c, d;
    pthread_create(&a, NULL, a1, 0);
    pthread_create(&b, NULL, a2, 0);
    pthread_create(&c, NULL, a3, 0);
    pthread_create(&d, NULL, ch, 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    pthread_join(d, NULL);
    return 0;
}
