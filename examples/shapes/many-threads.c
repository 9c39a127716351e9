// 64 threads that each read a counter and write it back.
#include "shape.h"

static int x;
static int seen[64];

static void *work(void *number) {
    long i = (long)number;
    int v = x;
    seen[i] = v;
    x = v + 1;
    return 0;
}

int main(void) {
    run(64, work);
    printf("%d\n", x);
    return 0;
}
