// A ticket lock and a lock that backs off, marked in the source.
#include "t.h"
#include <sched.h>
#include <stdatomic.h>
struct ticket { atomic_uint next, serving; };
struct ttas { atomic_int taken; };
static struct ticket k;
static struct ttas l;
static int x, y, z;
FORETRACE_LOCK("take") static void take(struct ticket *p) {
    unsigned mine = atomic_fetch_add(&p->next, 1);
    while (atomic_load(&p->serving) != mine) sched_yield();
}
FORETRACE_LOCK("give") static void give(struct ticket *p) { atomic_fetch_add(&p->serving, 1); }
FORETRACE_LOCK("take") static void back_off(struct ttas *p) {
    for (int delay = 1; atomic_load(&p->taken) || atomic_exchange(&p->taken, 1); delay *= 2) {
        for (volatile int i = 0; i < delay; i++) __builtin_ia32_pause();
        sched_yield();
        if (delay > 64) delay = 1;
    }
}
FORETRACE_LOCK("give") static void leave(struct ttas *p) { atomic_store(&p->taken, 0); }
T(A) {
    take(&k); NO("under the ticket lock"); x = x + 1; END; give(&k);
    back_off(&l); NO("under the lock that backs off"); y = y + 1; END; leave(&l);
    take(&k); YES("two different locks"); z = z + 1; END; give(&k);
    return 0;
}
T(B) {
    take(&k); x = x + 10; give(&k);
    back_off(&l); y = y + 10; leave(&l);
    back_off(&l); z = z + 10; leave(&l);
    return 0;
}
int main() { pthread_t a, b; GO(a, A, 0); GO(b, B, 0); JOIN(a); JOIN(b); printf("%d %d\n", x, y); return 0; }
