/* A clock runs expired timers; an owner cancels its timer and frees it. With SAFE the clock runs them under the lock. */
#include <pthread.h>
#include <stdlib.h>

struct timer {
    struct timer *next;
    int due, rings;
    int *bell;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timer *timers;
static int bell;

static void *clock_ticks(void *unused)
{
    struct timer *expired = NULL;
    pthread_mutex_lock(&lock);
    if (timers != NULL && timers->due == 1) {
        expired = timers;
        timers = NULL;
    }
    if (!SAFE)
        pthread_mutex_unlock(&lock);
    if (expired != NULL)
        *expired->bell += expired->rings;
    if (SAFE)
        pthread_mutex_unlock(&lock);
    return unused;
}

static void *owner(void *argument)
{
    struct timer *timer = argument;
    pthread_mutex_lock(&lock);
    if (timers == timer)
        timers = NULL;
    pthread_mutex_unlock(&lock);
    free(timer);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    struct timer *timer = calloc(1, sizeof *timer);
    timer->due = timer->rings = 1;
    timer->bell = &bell;
    timers = timer;
    pthread_create(&threads[0], NULL, clock_ticks, NULL);
    pthread_create(&threads[1], NULL, owner, timer);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return bell > 1;
}
