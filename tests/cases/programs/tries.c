#include "t.h"
#include <semaphore.h>
#include <time.h>
// A try, or a wait with a time limit, has two outcomes: what the other one allows is not impossible.
static pthread_mutex_t k = PTHREAD_MUTEX_INITIALIZER, l = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t g = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s, u;
static volatile int x[6], y, bad;

static struct timespec in(long milliseconds) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    long nanoseconds = at.tv_nsec + milliseconds * 1000000;
    return (struct timespec){at.tv_sec + nanoseconds / 1000000000, nanoseconds % 1000000000};
}

T(W) {
    pthread_mutex_lock(&k); x[0] = 1; pthread_mutex_unlock(&k);
    pthread_mutex_lock(&l); x[1] = 1; pthread_mutex_unlock(&l);
    pthread_rwlock_wrlock(&r); x[2] = 1; pthread_rwlock_unlock(&r);
    pthread_mutex_lock(&n); y = 1; pthread_mutex_unlock(&n);
    x[3] = 1; sem_post(&s);
    x[4] = 1; sem_post(&u);
    x[5] = 1;
    pthread_mutex_lock(&g); pthread_cond_signal(&c); pthread_mutex_unlock(&g);
    return 0;
}

T(R) {
    struct timespec at = in(100);
    int got = pthread_mutex_trylock(&k) == 0;
    OPEN("a try"); bad += x[0] != x[0]; END;
    if (got) pthread_mutex_unlock(&k);
    got = pthread_mutex_timedlock(&l, &at) == 0;
    OPEN("a lock with a time limit"); bad += x[1] != x[1]; END;
    if (got) pthread_mutex_unlock(&l);
    got = pthread_rwlock_tryrdlock(&r) == 0;
    OPEN("a share that is tried"); bad += x[2] != x[2]; END;
    if (got) pthread_rwlock_unlock(&r);
    if (pthread_mutex_trylock(&n) == 0) pthread_mutex_unlock(&n);
    pthread_mutex_lock(&n);
    NO("a lock that is waited for"); bad += y != y; END;
    pthread_mutex_unlock(&n);
    sem_timedwait(&s, &at);
    OPEN("a semaphore with a time limit"); bad += x[3] != x[3]; END;
    sem_trywait(&u);
    OPEN("a semaphore that is tried"); bad += x[4] != x[4]; END;
    at = in(20);
    pthread_mutex_lock(&g); pthread_cond_timedwait(&c, &g, &at); pthread_mutex_unlock(&g);
    OPEN("a condition with a time limit"); bad += x[5] != x[5]; END;
    return 0;
}

int main() {
    pthread_t a, b;
    sem_init(&s, 0, 0); sem_init(&u, 0, 0);
    GO(a, W, 0); GO(b, R, 0);
    JOIN(a); JOIN(b);
    return 0;
}
