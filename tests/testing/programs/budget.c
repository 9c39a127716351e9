/* A budget is looked at and then spent from, in two atomic operations: two threads spend more than there is. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int budget = 5;

static int spend(int amount)
{
    if (atomic_load(&budget) < amount)
        return 0;
    atomic_fetch_sub(&budget, amount);
    return 1;
}

static void *work(void *unused)
{
    for (int i = 0; i < 2; i++)
        spend(2);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (budget < 0)
        fprintf(stderr, "overdrawn: %d\n", budget);
    return budget < 0;
}
