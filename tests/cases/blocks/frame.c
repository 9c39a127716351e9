/* A text frame with offset and length, which together must stay inside the text. */
#include "../programs/t.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int offset = 0, length = 20, drawn_offset, drawn_length;
T(scroll) {
    YES("scroll");
    LOCK; offset = 10;
#ifndef RIGHT
    UNLOCK; LOCK;
#endif
    length = 10; UNLOCK;
    END;
    return 0;
}
T(draw) { LOCK; drawn_offset = offset; drawn_length = length; UNLOCK; return 0; }
int main(void) { pthread_t a, b; GO(a, scroll, 0); GO(b, draw, 0); JOIN(a); JOIN(b); return drawn_offset + drawn_length > 20; }
