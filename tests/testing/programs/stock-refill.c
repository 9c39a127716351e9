/* Stock is looked at under a shared lock and filled under the lock for one: two threads that both saw little fill it twice. The right one
   (-DRIGHT) looks again. */
#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int stock = 5, refills;

static void refill(void)
{
    pthread_rwlock_rdlock(&lock);
    int seen = stock;
    pthread_rwlock_unlock(&lock);
    if (seen >= 10)
        return;
    pthread_rwlock_wrlock(&lock);
#ifdef RIGHT
    seen = stock;
#endif
    if (seen < 10) {
        stock = seen + 10;
        refills++;
    }
    pthread_rwlock_unlock(&lock);
}

static void *work(void *unused)
{
    refill();
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (refills != 1)
        fprintf(stderr, "%d refills\n", refills);
    return refills != 1;
}
