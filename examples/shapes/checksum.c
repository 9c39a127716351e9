// A hash that is read, mixed by multiplications, and written back in another section.
#include "shape.h"

static uint64_t h = 1;

static uint64_t mix(uint64_t v) {
    v ^= v >> 33;
    v *= 0xff51afd7ed558ccdULL;
    v ^= v >> 33;
    v *= 0xc4ceb9fe1a85ec53ULL;
    v ^= v >> 33;
    return v;
}

static void *work(void *number) {
    long i = (long)number;
    for (int k = 0; k < 12; k++) {
        pthread_mutex_lock(&lock);
        uint64_t v = h;
        pthread_mutex_unlock(&lock);
        v = mix(v + i);
        pthread_mutex_lock(&lock);
        if (v % 7 != 3) h = v;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    run(4, work);
    printf("%d\n", (int)(h % 100));
    return 0;
}
