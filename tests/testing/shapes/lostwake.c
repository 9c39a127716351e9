/* A flag that is tested outside of the lock that its condition variable waits with. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;

static void *w(void *x) {
    pthread_mutex_lock(&m);
    int r = ready;
    pthread_mutex_unlock(&m);
    if (!r) {
        pthread_mutex_lock(&m);
        pthread_cond_wait(&c, &m);
        pthread_mutex_unlock(&m);
    }
    return x;
}

static void *s(void *x) {
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_mutex_unlock(&m);
    pthread_cond_signal(&c);
    return x;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&b, NULL, s, 0);
    pthread_create(&a, NULL, w, 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
