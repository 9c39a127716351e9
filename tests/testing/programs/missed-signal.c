/* A thread signals a condition before the other waits for it, and says so nowhere: every run waits for ever. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;

static void *signal_ready(void *unused)
{
    pthread_cond_signal(&ready);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, signal_ready, NULL);
    pthread_join(thread, NULL);
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    return 0;
}
