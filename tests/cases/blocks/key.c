/* A key and its flags, which the reader takes in a block of two critical sections while the writer changes both in one. */
#include "../programs/t.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int key = 1, flags = 1, my_key, my_flags;
T(rekey) { LOCK; key = 2; flags = 2; UNLOCK; return 0; }
T(lookup) {
    YES("lookup");
    LOCK; my_key = key;
#ifndef RIGHT
    UNLOCK; LOCK;
#endif
    my_flags = flags; UNLOCK;
    END;
    return 0;
}
int main(void) { pthread_t a, b; GO(a, rekey, 0); GO(b, lookup, 0); JOIN(a); JOIN(b); return my_key != my_flags; }
