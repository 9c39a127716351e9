/* Two locks in two orders. */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x, y;

static void *f(void *p) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    x++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return p;
}

static void *g(void *p) {
    pthread_mutex_lock(&b);
    y++;
    pthread_mutex_lock(&a);
    x++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return p;
}

int main(void) {
    pthread_t s, t;
    pthread_create(&s, NULL, f, 0);
    pthread_create(&t, NULL, g, 0);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
