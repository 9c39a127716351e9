/* A thread waits in a loop that gives up after ROUNDS equal reads, and then takes what is not there. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int value;

static void *give(void *nothing) {
    value = 1;
    atomic_store(&ready, 1);
    return nothing;
}

int main(void) {
    pthread_t giver;
    pthread_create(&giver, NULL, give, NULL);
    for (int round = 0; round < ROUNDS && !atomic_load(&ready); round++) {
    }
    assert(atomic_load(&ready));
    pthread_join(giver, NULL);
    return value - 1;
}
