/* A token is waited for with a deadline that is far away. No schedule may act as if the deadline had passed. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t freed = PTHREAD_COND_INITIALIZER;
static int tokens = 1;
static long used;

static void *work(void *unused)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    pthread_mutex_lock(&lock);
    while (tokens == 0)
        if (pthread_cond_timedwait(&freed, &lock, &until) == ETIMEDOUT && tokens == 0) {
            fprintf(stderr, "time-out\n");
            exit(3);
        }
    tokens--;
    pthread_mutex_unlock(&lock);
    used++; /* who has the token is alone */
    pthread_mutex_lock(&lock);
    tokens++;
    pthread_cond_signal(&freed);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return used != 3;
}
