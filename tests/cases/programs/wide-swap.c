#include "t.h"
// 16 bytes that are compared and swapped at once: a load before may be old, the swap itself is whole.
typedef struct { long value, tag; } tagged;
static _Atomic tagged top, other;
T(A) {
    long by = (long)arg;
    YES("load, then swap");
    tagged seen = __c11_atomic_load(&top, __ATOMIC_ACQUIRE), next = {(seen.value + by) % 2, seen.tag + 1};
    while (!__c11_atomic_compare_exchange_strong(&top, &seen, next, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) next = (tagged){(seen.value + by) % 2, seen.tag + 1};
    END;
    NO("the swap alone");
    tagged none = {0, 0}, one = {by + 1, by + 1};
    __c11_atomic_compare_exchange_strong(&other, &none, one, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    END;
    return 0;
}
int main() {
    pthread_t x, y;
    GO(x, A, 0); GO(y, A, 1);
    JOIN(x); JOIN(y);
    tagged last = __c11_atomic_load(&top, __ATOMIC_ACQUIRE);
    printf("%ld %ld\n", last.value, last.tag);
    return 0;
}
