// A stack without locks, each operation marked. It is the one of Afek, Gafni and Morrison with reading and taking an item apart:
// "Root Causing Linearizability Violations" (CAV 2020), Figure 1. With RIGHT, the item is taken in one step.
#include <foretrace.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int items[8];
static atomic_int range;

static void push(int value) {
    FORETRACE_CALL(items, "push", value);
    int at = atomic_fetch_add(&range, 1);
    atomic_store(&items[at], value);
    FORETRACE_RETURN(items, "push");
}

static int pop(void) {
    FORETRACE_CALL(items, "pop");
    for (int at = atomic_load(&range) - 1; at >= 0; at--) {
#ifdef RIGHT
        int value = atomic_exchange(&items[at], 0);
#else
        int value = atomic_load(&items[at]);
        atomic_store(&items[at], 0);
#endif
        if (value) {
            FORETRACE_RETURN(items, "pop", value);
            return value;
        }
    }
    FORETRACE_RETURN(items, "pop");
    return 0;
}

static void *one(void *unused) {
    push(1);
    pop();
    return unused;
}

static void *two(void *unused) {
    push(2);
    pop();
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    puts("done");
    return 0;
}
