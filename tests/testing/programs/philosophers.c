/* Each of SEATS philosophers takes the fork on one side, then the one on the other. The last one takes them the other way round
   if CAREFUL is 1; else all may wait for each other. */
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t forks[SEATS];

static void *dine(void *number)
{
    intptr_t left = (intptr_t)number, right = (left + 1) % SEATS;
    intptr_t one = left, other = right;
    if (CAREFUL && left + 1 == SEATS)
        one = right, other = left;
    pthread_mutex_lock(&forks[one]);
    pthread_mutex_lock(&forks[other]);
    pthread_mutex_unlock(&forks[other]);
    pthread_mutex_unlock(&forks[one]);
    return NULL;
}

int main(void)
{
    pthread_t threads[SEATS];
    for (intptr_t k = 0; k < SEATS; k++) {
        pthread_mutex_init(&forks[k], NULL);
        pthread_create(&threads[k], NULL, dine, (void *)k);
    }
    for (int k = 0; k < SEATS; k++)
        pthread_join(threads[k], NULL);
    return 0;
}
