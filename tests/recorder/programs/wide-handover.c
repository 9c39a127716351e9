// Data that threads hand over by atomic operations of 16 bytes alone; the argument says how. With BROKEN it is written after that.
#include <foretrace.h>
#include <pthread.h>
#include <stdlib.h>

typedef unsigned __int128 wide;

static wide gate;
static int data;
static char way;

// The upper half says it: a record that holds the lower one is not enough.
#define OPEN ((wide)1 << 64)

static void give(void) {
    wide shut = 0;
    switch (way) {
    case 's': __atomic_store_n(&gate, OPEN, __ATOMIC_RELEASE); break;
    case 'x': __atomic_exchange_n(&gate, OPEN, __ATOMIC_ACQ_REL); break;
    case 'a': __atomic_fetch_add(&gate, OPEN, __ATOMIC_ACQ_REL); break;
    case 'o': __atomic_fetch_or(&gate, OPEN, __ATOMIC_ACQ_REL); break;
    default: __atomic_compare_exchange_n(&gate, &shut, OPEN, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
}

static int is_given(void) {
    wide seen = OPEN;
    switch (way) {
    case 'c': return __atomic_compare_exchange_n(&gate, &seen, 3, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    case 'f': seen = 7, __atomic_compare_exchange_n(&gate, &seen, 8, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); break;
    case 'a': seen = __atomic_fetch_sub(&gate, 0, __ATOMIC_ACQ_REL); break;
    default: seen = __atomic_load_n(&gate, __ATOMIC_ACQUIRE);
    }
    return seen >> 64 == 1;
}

static void *work(void *unused) {
#ifndef BROKEN
    data = 1; // @write
#endif
    give();
#ifdef BROKEN
    data = 1; // @write
#endif
    return unused;
}

int main(int count, char **arguments) {
    way = count > 1 ? arguments[1][0] : 's';
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    while (!is_given()) {
    }
    FORETRACE_ATOMIC_BEGIN("use");
    int first = data; // @first
    int second = data; // @second
    FORETRACE_ATOMIC_END("use");
    pthread_join(thread, 0);
    return abs(first - second);
}
