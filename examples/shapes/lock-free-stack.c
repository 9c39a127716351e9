// A stack by compare-and-swap.
#include "shape.h"

static _Atomic int top;
static int nxt[64];

static void *work(void *number) {
    long i = (long)number;
    for (int k = 0; k < 10; k++) {
        int n = 1 + (int)i * 10 + k;
        int t = atomic_load(&top);
        do {
            nxt[n] = t;
        } while (!atomic_compare_exchange_weak(&top, &t, n));
        t = atomic_load(&top);
        while (t && !atomic_compare_exchange_weak(&top, &t, nxt[t]));
    }
    return 0;
}

int main(void) {
    run(4, work);
    int t = top, c = 0;
    while (t) {
        c++;
        t = nxt[t];
    }
    printf("%d\n", c);
    return 0;
}
