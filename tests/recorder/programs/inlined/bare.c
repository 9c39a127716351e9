/* No lock is there at all: the one that a repair declares goes around the calls of small functions. */
#include <pthread.h>
#include <stddef.h>

static long stock = 4;

static long get(void)
{
    return stock;
}

static void put(long value)
{
    stock = value;
}

static void *buyer(void *unused)
{
    long now = get();
    put(now + 1);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, buyer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return stock == 6 ? 0 : 3;
}
