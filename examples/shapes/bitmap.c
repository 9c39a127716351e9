// Threads take and free bits of a map without a lock.
#include "shape.h"

static uint32_t map[4];
static int nfree = 128;

static int get() {
    for (int w = 0; w < 4; w++)
        if (map[w] != ~0u) {
            int b = __builtin_ctz(~map[w]);
            map[w] |= 1u << b;
            nfree--;
            return w * 32 + b;
        }
    return -1;
}

static void put(int i) {
    map[i / 32] &= ~(1u << (i % 32));
    nfree++;
}

static void *work(void *number) {
    int h[8];
    for (int r = 0; r < 4; r++) {
        for (int k = 0; k < 5; k++) h[k] = get();
        for (int k = 0; k < 5; k++)
            if (h[k] >= 0) put(h[k]);
    }
    return 0;
}

int main(void) {
    run(3, work);
    printf("%d\n", nfree > 0);
    return 0;
}
