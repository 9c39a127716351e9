#include "t.h"
// 16 bytes that one thread compares and swaps at once. Others write half of them, which does not come into the middle of the swap.
typedef struct { long value, tag; } tagged;
static union { _Atomic tagged both; _Atomic long value; long plain[2]; } a, b, c;
T(A) {
    tagged none = {0, 0}, one = {1, 1};
    NO("among stores"); __c11_atomic_compare_exchange_strong(&a.both, &none, one, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); END;
    none = (tagged){0, 0};
    NO("among updates"); __c11_atomic_compare_exchange_strong(&b.both, &none, one, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); END;
    none = (tagged){0, 0};
    NO("among plain writes"); __c11_atomic_compare_exchange_strong(&c.both, &none, one, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); END;
    YES("load, then swap");
    none = __c11_atomic_load(&a.both, __ATOMIC_ACQUIRE);
    __c11_atomic_compare_exchange_strong(&a.both, &none, one, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    END;
    return 0;
}
T(B) {
    __c11_atomic_store(&a.value, 0, __ATOMIC_RELEASE);
    __c11_atomic_fetch_and(&b.value, 0, __ATOMIC_ACQ_REL);
    memset(&c.plain[0], 0, sizeof c.plain[0]);
    return 0;
}
int main() {
    pthread_t x, y;
    GO(x, A, 0); GO(y, B, 0);
    JOIN(x); JOIN(y);
    printf("%ld %ld %ld\n", a.plain[1], b.plain[1], c.plain[1]);
    return 0;
}
