/* One of two threads forgets the lock of a count. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int hits;

static void *count(void *arg) {
    pthread_mutex_lock(&lock);
    hits = hits + 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *count_without(void *arg) {
    int h = hits;
    hits = h + 1;
    return arg;
}

int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, count, 0);
    pthread_create(&t[1], 0, count_without, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    assert(hits == 2);
}
