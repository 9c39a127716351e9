/* Two flags that are set in the wrong order: the reader asks for the one that comes first. */
#include "../programs/t.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int ready, filled, saw_ready, saw_filled;
T(start) {
    YES("start");
#ifdef RIGHT
    LOCK; filled = 1; UNLOCK;
    LOCK; ready = 1; UNLOCK;
#else
    LOCK; ready = 1; UNLOCK;
    LOCK; filled = 1; UNLOCK;
#endif
    END;
    return 0;
}
T(use) { LOCK; saw_ready = ready; UNLOCK; LOCK; saw_filled = filled; UNLOCK; return 0; }
int main(void) { pthread_t a, b; GO(a, start, 0); GO(b, use, 0); JOIN(a); JOIN(b); return saw_ready && !saw_filled; }
