/* Two threads that hold different locks. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m1 = PTHREAD_MUTEX_INITIALIZER, m2 = PTHREAD_MUTEX_INITIALIZER;
static int v;

static void *one(void *x) {
    pthread_mutex_lock(&m1);
    int y = v;
    v = y + 1;
    assert(v == y + 1);
    pthread_mutex_unlock(&m1);
    return x;
}

static void *two(void *x) {
    pthread_mutex_lock(&m2);
    v = v + 1;
    pthread_mutex_unlock(&m2);
    return x;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, one, 0);
    pthread_create(&b, NULL, two, 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
