// A thread waits for an item, up to a limit. The limit is over, another thread takes the mutex, adds the item and signals; then the first has
// the mutex back: it "timed out" although the item is there. With -DRIGHT it looks.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items, given_up;

static void *put(void *none) {
    pthread_mutex_lock(&lock);
    items++;
    if (!given_up)
        pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    return none;
}

int main(void) {
    pthread_t other;
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec++;
    pthread_create(&other, NULL, put, NULL);
    int result = 0;
    pthread_mutex_lock(&lock);
    while (items == 0 && result == 0)
        result = pthread_cond_timedwait(&filled, &lock, &limit);
#ifdef RIGHT
    given_up = items == 0;
#else
    given_up = result == ETIMEDOUT;
#endif
    if (given_up && items > 0)
        exit(1);
    pthread_mutex_unlock(&lock);
    pthread_join(other, NULL);
    return 0;
}
