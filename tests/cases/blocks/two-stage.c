/* An update in two stages: each field has its lock, and between the two a reader sees half of it. */
#include "../programs/t.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance, stamp, seen_balance, seen_stamp;
T(update) {
    YES("update");
    LOCK; balance = 7;
#ifndef RIGHT
    UNLOCK; LOCK;
#endif
    stamp = 7; UNLOCK;
    END;
    return 0;
}
T(look) { LOCK; seen_balance = balance; seen_stamp = stamp; UNLOCK; return 0; }
int main(void) { pthread_t a, b; GO(a, update, 0); GO(b, look, 0); JOIN(a); JOIN(b); return seen_balance != seen_stamp; }
