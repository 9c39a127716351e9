/* Each thread looks at the clock and keeps the latest moment, which never goes back. With WRONG it looks before it takes the lock,
   so another thread may keep a later one meanwhile. */
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long long latest;

static long long now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static void *look(void *unused) {
    for (int i = 0; i < 2; i++) {
#ifdef WRONG
        long long at = now();
        pthread_mutex_lock(&lock);
#else
        pthread_mutex_lock(&lock);
        long long at = now();
#endif
        assert(at > latest);
        latest = at;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, look, NULL);
    pthread_create(&threads[1], NULL, look, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
