// Waits for ever if another thread writes between two reads.
#include <foretrace.h>
#include <pthread.h>
#include <unistd.h>

static int state;

static void *change(void *unused) {
    state = 1;
    return unused;
}

static void *compare(void *unused) {
    FORETRACE_ATOMIC_BEGIN("compare");
    int before = state;
    int after = state;
    FORETRACE_ATOMIC_END("compare");
    while (before != after) usleep(1000);
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
