/* A thread takes one of a semaphore if there is one: what it does else has no event of its own. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t count;
static int taken;

static void *take(void *nothing) {
    if (sem_trywait(&count) == 0)
        taken = 1;
    return nothing;
}

int main(void) {
    pthread_t taker;
    sem_init(&count, 0, 0);
    pthread_create(&taker, NULL, take, NULL);
    sem_post(&count);
    pthread_join(taker, NULL);
    assert(!taken);
}
