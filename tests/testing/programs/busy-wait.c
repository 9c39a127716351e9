// A thread waits in a loop that says in each turn that it waits, where others look: with -DCHANGES it first takes it back, so that each
// turn changes what others may find.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready, waits, seen;

static void *waiter(void *unused) {
    while (!atomic_load(&ready)) {
#ifdef CHANGES
        atomic_store(&waits, 0);
#endif
        atomic_store(&waits, 1);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, waiter, 0);
    seen = atomic_load(&waits);
    atomic_store(&ready, 1);
    pthread_join(thread, 0);
    return 0;
}
