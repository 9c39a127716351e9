/* A batcher takes items, and gives out what it has at the latest after a while. Wrong (-DEMPTY) is that it gives out what may be empty. */
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items, closed, empty_batches;

static void *batcher(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!closed || items) {
        struct timespec at;
        clock_gettime(CLOCK_REALTIME, &at);
        at.tv_nsec += 10000000;
        if (at.tv_nsec >= 1000000000)
            at.tv_sec++, at.tv_nsec -= 1000000000;
        int over = 0;
        while (!items && !closed && !over)
            over = pthread_cond_timedwait(&filled, &lock, &at) == ETIMEDOUT;
#ifdef EMPTY
        if (over && !items)
            empty_batches++;
#endif
        items = 0;
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, batcher, 0);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        if (i == 0)
            items++;
        else
            closed = 1;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, 0);
    return empty_batches > 0;
}
