/* A worker sleeps until there is work or it is to stop. The flag is set without the lock, between its test and the wait: then the
   signal is lost. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int stop;
static int done;

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!stop)
        pthread_cond_wait(&changed, &lock);
    done = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    stop = 1;
    pthread_cond_signal(&changed);
    pthread_join(worker, NULL);
    printf("done %d\n", done);
    return 0;
}
