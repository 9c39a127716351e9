/* One thread does much before the others start and after they have ended, as programs of a test framework do. With -DRIGHT the two
   threads add in one hold of the lock. */
#include <pthread.h>
#include <stdio.h>

#define ITEMS 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static long items[ITEMS];

static void alone(void)
{
    for (int step = 0; step < STEPS; step++)
        items[step % ITEMS] += step;
}

static void *add(void *amount)
{
    pthread_mutex_lock(&lock);
    long known = total;
#ifndef RIGHT
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    total = known + (long)amount;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    alone();
    pthread_t first, second;
    pthread_create(&first, NULL, add, (void *)1);
    pthread_create(&second, NULL, add, (void *)2);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    alone();
    printf("%ld\n", total);
    return total == 3 ? 0 : 1;
}
