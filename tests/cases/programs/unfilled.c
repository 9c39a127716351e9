#include "t.h"
#include <stdatomic.h>
/* Blocks that another thread gets before they are filled. One holds what a freed block left there, which no trace knows; the one of calloc holds zeros. */
struct box { long pad[2], once, twice; };
static _Atomic(struct box *) left_over, zeroed;
static long wrong, seen;
static void fill_box(struct box *b, long once, long twice) { b->once = once; b->twice = twice; }
static void look_into(struct box *b) { if (b->twice != 2 * b->once) wrong = 1; else seen = b->once; }
T(fill) {
    struct box *b = malloc(sizeof *b); fill_box(b, 5, 7); free(b);
    b = malloc(sizeof *b); struct box *c = calloc(1, sizeof *c);
    atomic_store(&left_over, b); fill_box(b, 1, 2);
    atomic_store(&zeroed, c); fill_box(c, 1, 2);
    return 0;
}
T(look) {
    struct box *b = atomic_load(&left_over);
    OPEN("left over"); if (b) look_into(b); END;
    struct box *c = atomic_load(&zeroed);
    YES("zeroed"); if (c) look_into(c); END;
    return 0;
}
int main(void) { pthread_t a, b; GO(a, fill, 0); GO(b, look, 0); JOIN(a); JOIN(b); return 0; }
