/* Two threads wait for a condition; a third fills a box twice and signals. Each waiter empties it once. With LOSES the second signal is
   sent before the box is full: a waiter may sleep for ever. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int box;

static void *empty(void *unused)
{
    pthread_mutex_lock(&lock);
    while (box == 0)
        pthread_cond_wait(&filled, &lock);
    box--;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *fill(void *unused)
{
    for (int k = 0; k < 2; k++) {
        if (LOSES && k == 1)
            pthread_cond_signal(&filled);
        pthread_mutex_lock(&lock);
        box++;
        if (!LOSES || k == 0)
            pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t waiters[2], filler;
    pthread_create(&waiters[0], NULL, empty, NULL);
    pthread_create(&waiters[1], NULL, empty, NULL);
    pthread_create(&filler, NULL, fill, NULL);
    pthread_join(waiters[0], NULL);
    pthread_join(waiters[1], NULL);
    pthread_join(filler, NULL);
    return 0;
}
