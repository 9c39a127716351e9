/* Workers take parcels until the belt is stopped. Who stops it holds no lock, so a worker that has looked may wait for ever. With
   ALARM a signal would end the program some day, so it hangs. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { WORKERS = 3, PARCELS = 6 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int parcels;
static atomic_int stopped;

static void *work(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        while (parcels == 0 && !atomic_load(&stopped))
            pthread_cond_wait(&changed, &lock);
        if (parcels == 0)
            break;
        parcels--;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
#ifdef ALARM
    alarm(1000);
#endif
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < PARCELS; i++) {
        pthread_mutex_lock(&lock);
        parcels++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    atomic_store(&stopped, 1);
    pthread_cond_broadcast(&changed);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    return 0;
}
