/* The two ends of what must be atomic lie in two calls of one small function. With FIXED the caller holds the lock. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

#ifdef FIXED
#define HOLD(does) does(&lock)
#define ALONE(does)
#else
#define HOLD(does)
#define ALONE(does) does(&lock)
#endif

static int change(int by)
{
    ALONE(pthread_mutex_lock);
    total += by;
    int now = total;
    ALONE(pthread_mutex_unlock);
    return now;
}

static int reserve(int count)
{
    HOLD(pthread_mutex_lock);
    int before = change(count); /* first of reserve */
    int after = change(0); /* last of reserve */
    HOLD(pthread_mutex_unlock);
    return before == after;
}

static void *work(void *same)
{
    *(int *)same = reserve(2);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int same[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &same[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return same[0] && same[1] ? 0 : 3;
}
