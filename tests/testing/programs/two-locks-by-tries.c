/* Two threads take two locks in opposite orders. Who finds the second one taken gives up: a failure. RIGHT: it asks again. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t net = PTHREAD_MUTEX_INITIALIZER;

static bool has_both(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    if (pthread_mutex_trylock(second) == 0) {
        return true;
    }
    pthread_mutex_unlock(first);
    return false;
}

static void *transfer(void *from_disk) {
    pthread_mutex_t *first = from_disk ? &disk : &net, *second = from_disk ? &net : &disk;
    bool has = has_both(first, second);
#ifdef RIGHT
    while (!has) {
        sched_yield();
        has = has_both(first, second);
    }
#endif
    assert(has);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, transfer, NULL);
    pthread_create(&threads[1], NULL, transfer, &disk);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
