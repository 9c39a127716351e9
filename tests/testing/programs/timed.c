/* A wait with a time limit, which may end it. Wrong (-DSTRICT) is to take that for a failure, unless the limit is so far away that
 * another thread comes first. */
#include <pthread.h>
#include <time.h>

#ifndef SECONDS
#define SECONDS 1
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int is_done;

static void *finish(void *unused)
{
    pthread_mutex_lock(&lock);
    is_done = 1;
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += SECONDS;
    pthread_create(&thread, NULL, finish, NULL);
    pthread_mutex_lock(&lock);
    while (!is_done)
        if (pthread_cond_timedwait(&done, &lock, &at) != 0)
            break;
    int in_time = is_done;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
#ifdef STRICT
    return !in_time;
#endif
    return 0;
}
