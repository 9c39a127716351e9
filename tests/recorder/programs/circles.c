// Runs in circles over shared memory if another thread writes between two reads.
#include <foretrace.h>
#include <pthread.h>

static volatile int state, turns;

static void *change(void *unused) {
    state = 1;
    turns++;
    return unused;
}

static void *compare(void *unused) {
    FORETRACE_ATOMIC_BEGIN("compare");
    int before = state;
    int after = state;
    FORETRACE_ATOMIC_END("compare");
    while (before != after) turns++;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, compare, 0);
    pthread_create(&two, 0, change, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
