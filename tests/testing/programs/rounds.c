/* The thread that comes last to a round of a barrier notes that. Two rounds have four outcomes; one of them fails if FAILS is 1. */
#include <pthread.h>

static pthread_barrier_t barrier;
static int last[2];

static void *work(void *argument)
{
    int me = *(int *)argument;
    for (int round = 0; round < 2; round++)
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            last[round] = me;
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int numbers[2] = { 1, 2 };
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return FAILS && last[0] == 2 && last[1] == 1;
}
