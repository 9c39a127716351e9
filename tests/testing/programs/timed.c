/* A wait with a time limit, which may end it: not all orders are within reach of a schedule. */
#include <pthread.h>
#include <time.h>

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
    at.tv_sec += 2;
    pthread_create(&thread, NULL, finish, NULL);
    pthread_mutex_lock(&lock);
    while (!is_done)
        if (pthread_cond_timedwait(&done, &lock, &at) != 0)
            break;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
