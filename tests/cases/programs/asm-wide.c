#include "t.h"
// 16 bytes that assembly compares and swaps at once, in the two forms of Concurrency Kit: with the words that it found as outputs, and with the
// expected words in memory. A load before may be old, the swap itself is whole.
static _Alignas(16) long top[2], other[2];
static int swap_with_old(long *p, const long *from, const long *to, long *found) {
    _Bool done;
    __asm__ volatile("lock cmpxchg16b %0;setz %3" : "+m"(*p), "=a"(found[0]), "=d"(found[1]), "=q"(done)
                     : "a"(from[0]), "d"(from[1]), "b"(to[0]), "c"(to[1]) : "memory", "cc");
    return done;
}
static int swap_in_memory(long *p, const long *from, const long *to) {
    _Bool done;
    __asm__ volatile("movq 0(%4), %%rax;movq 8(%4), %%rdx;lock cmpxchg16b %0; setz %1" : "+m"(*p), "=q"(done)
                     : "b"(to[0]), "c"(to[1]), "q"(from) : "memory", "cc", "%rax", "%rdx");
    return done;
}
T(A) {
    long by = (long)arg;
    YES("load, then swap");
    long seen[2] = {top[0], top[1]}, next[2];
    do { next[0] = (seen[0] + by) % 2; next[1] = seen[1] + 1; } while (!swap_with_old(top, seen, next, seen));
    END;
    NO("the swap alone");
    long none[2] = {0, 0}, one[2] = {by + 1, by + 1};
    swap_in_memory(other, none, one);
    END;
    return 0;
}
int main() {
    pthread_t x, y;
    GO(x, A, 0); GO(y, A, 1);
    JOIN(x); JOIN(y);
    printf("%ld %ld\n", top[0], top[1]);
    return top[1] != 2 || other[0] != other[1] || !other[0];
}
