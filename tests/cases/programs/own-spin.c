// Spin locks of the program's own, which foretrace.locks names: one by a pointer, one that has no parameter.
#include "t.h"
#include <sched.h>
#include <stdatomic.h>
struct spin { int spins; atomic_int taken; };
static struct spin l;
static atomic_int g;
static int x, y, z, w;
static void own_spin_lock(struct spin *p) {
    while (atomic_exchange(&p->taken, 1)) {
        while (atomic_load(&p->taken)) sched_yield();
    }
}
static int own_spin_trylock(struct spin *p) { return atomic_exchange(&p->taken, 1) ? EBUSY : 0; }
static void own_spin_unlock(struct spin *p) { atomic_store(&p->taken, 0); }
static void global_lock(void) { for (int zero = 0; !atomic_compare_exchange_weak(&g, &zero, 1); zero = 0) sched_yield(); }
static void global_unlock(void) { atomic_store(&g, 0); }
T(A) {
    own_spin_lock(&l); NO("under one hold"); x = x + 1; END; own_spin_unlock(&l);
    YES("between two holds");
    own_spin_lock(&l); int r = y; own_spin_unlock(&l);
    own_spin_lock(&l); y = r + 1; own_spin_unlock(&l);
    END;
    global_lock(); NO("under the global lock"); z = z + 1; END; global_unlock();
    YES("no lock at all"); w = w + 1; END;
    return 0;
}
T(B) {
    own_spin_lock(&l); x = x + 10; own_spin_unlock(&l);
    while (own_spin_trylock(&l)) sched_yield();
    y = y + 10;
    own_spin_unlock(&l);
    global_lock(); z = z + 10; global_unlock();
    w = w + 10;
    return 0;
}
int main() { pthread_t a, b; GO(a, A, 0); GO(b, B, 0); JOIN(a); JOIN(b); printf("%d %d\n", x, z); return 0; }
