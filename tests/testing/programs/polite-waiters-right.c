/* Two threads wait in loops, each giving way to the other; the third thread must get its turn, too. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int made;

static void *make(void *unused)
{
    for (int i = 0; i < 6; i++)
        atomic_fetch_add(&made, 1);
    return unused;
}

static void *wait_for_all(void *unused)
{
    while (atomic_load(&made) < 6)
        sched_yield();
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, make, NULL);
    pthread_create(&threads[1], NULL, wait_for_all, NULL);
    pthread_create(&threads[2], NULL, wait_for_all, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
