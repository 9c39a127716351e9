// The owner pushes and pops at one end of a deque, three thieves steal at the other.
#include "shape.h"

static _Atomic long top, bot;
static _Atomic int buf[64];
static atomic_int got;

static void push(int v) {
    long b = bot;
    buf[b & 63] = v;
    atomic_store(&bot, b + 1);
}

static int pop() {
    long b = atomic_load(&bot) - 1;
    atomic_store(&bot, b);
    long t = atomic_load(&top);
    if (t <= b) {
        int v = buf[b & 63];
        if (t == b) {
            if (!atomic_compare_exchange_strong(&top, &t, t + 1)) v = -1;
            atomic_store(&bot, b + 1);
        }
        return v;
    }
    atomic_store(&bot, b + 1);
    return -1;
}

static int steal() {
    long t = atomic_load(&top);
    long b = atomic_load(&bot);
    if (t < b) {
        int v = buf[t & 63];
        if (!atomic_compare_exchange_strong(&top, &t, t + 1)) return -1;
        return v;
    }
    return -1;
}

static void *work(void *number) {
    long i = (long)number;
    if (i == 0) {
        for (int k = 0; k < 30; k++) {
            push(k);
            if (k % 3 == 2 && pop() >= 0) got++;
        }
        while (pop() >= 0) got++;
    } else
        for (int k = 0; k < 20; k++)
            if (steal() >= 0) got++;
    return 0;
}

int main(void) {
    run(4, work);
    printf("%d\n", got);
    return 0;
}
