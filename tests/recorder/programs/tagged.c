// A pointer with a tag that is replaced by a compare-and-swap of 16 bytes: whoever finds that it changed in between tries again.
#include <foretrace.h>
#include <pthread.h>

typedef struct {
    long value, tag;
} tagged;

static _Atomic tagged top;
static long sum;

static void *work(void *by) {
    for (int turn = 0; turn < 2; turn++) {
        FORETRACE_ATOMIC_BEGIN("replace");
        tagged seen = __c11_atomic_load(&top, __ATOMIC_ACQUIRE), next;
        do {
            next = (tagged){(seen.value + (long)by) % 2, seen.tag + 1};
        } while (!__c11_atomic_compare_exchange_strong(&top, &seen, next, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
        FORETRACE_ATOMIC_END("replace");
    }
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) {
        pthread_create(&threads[i], 0, work, (void *)i);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], 0);
    }
    tagged last = __c11_atomic_load(&top, __ATOMIC_ACQUIRE);
    return last.tag != 4;
}
