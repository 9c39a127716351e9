// Bit-fields that share a word lose each other's updates; unions; unaligned members of packed structs; bytes beside each other do not.
#include "t.h"
static struct { unsigned a : 3, b : 5; } bits; static struct { char x, y; } bytes;
static struct __attribute__((packed)) { char c; int n; long l; } packed;
static union { int whole; short half[2]; } both;
T(one) {
    YES("neighbour bits"); bits.a++; END;
    NO("neighbour bytes"); bytes.x++; END;
    YES("packed"); packed.n++; packed.l += 2; END;
    YES("halves"); both.half[0]++; END;
    return NULL;
}
T(other) {
    bits.b++; bytes.y++; packed.n += 3; packed.l++; both.whole += 5;
    return NULL;
}
int main(void) {
    pthread_t t[2]; GO(t[0], one, 0); GO(t[1], other, 0); JOIN(t[0]); JOIN(t[1]);
    printf("%d %d\n", bytes.x, bytes.y);
}
