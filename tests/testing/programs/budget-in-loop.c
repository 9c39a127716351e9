/* A budget is looked at and then spent from in each turn of a loop, in two atomic operations: two threads spend more than there is. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int budget = 5;

static void *work(void *unused)
{
    for (int i = 0; i < 2; i++) {
        if (atomic_load(&budget) < 2)
            continue;
        atomic_fetch_sub(&budget, 2);
    }
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
