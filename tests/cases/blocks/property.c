/* A cache of properties: a table, and a flag that says that the table is empty. */
#include "../programs/t.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int table[4], empty = 1, was_empty, property;
T(set) {
    YES("set");
    LOCK; empty = 0;
#ifndef RIGHT
    UNLOCK; LOCK;
#endif
    table[1] = 9; UNLOCK;
    END;
    return 0;
}
T(get) { LOCK; was_empty = empty; property = table[1]; UNLOCK; return 0; }
int main(void) { pthread_t a, b; GO(a, set, 0); GO(b, get, 0); JOIN(a); JOIN(b); return !was_empty && property == 0; }
