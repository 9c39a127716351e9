/* Two levels of small functions, called by two others: what must be atomic is a stretch of these two. With FIXED they hold the lock. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long stock = 4;

#ifdef FIXED
#define HOLD(does) does(&lock)
#define ALONE(does)
#else
#define HOLD(does)
#define ALONE(does) does(&lock)
#endif

static long read_stock(void)
{
    return stock;
}

static long get(void)
{
    ALONE(pthread_mutex_lock);
    long now = read_stock();
    ALONE(pthread_mutex_unlock);
    return now;
}

static void put(long value)
{
    ALONE(pthread_mutex_lock);
    stock = value;
    ALONE(pthread_mutex_unlock);
}

static void buy(long count)
{
    HOLD(pthread_mutex_lock);
    long now = get(); /* first of buy */
    put(now + count); /* last of buy */
    HOLD(pthread_mutex_unlock);
}

static void sell(long count)
{
    HOLD(pthread_mutex_lock);
    long now = get(); /* first of sell */
    if (now >= count)
        put(now - count); /* last of sell */
    HOLD(pthread_mutex_unlock);
}

static void *buyer(void *unused)
{
    buy(1);
    return unused;
}

static void *seller(void *unused)
{
    sell(2);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, buyer, NULL);
    pthread_create(&threads[1], NULL, seller, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return stock == 3 ? 0 : 3;
}
