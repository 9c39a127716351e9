// A lock of the program's own that can be shared: writers keep readers out, readers do not keep each other out.
#include "t.h"
#include <sched.h>
#include <stdatomic.h>
struct rw { atomic_int state; }; // how many read, or -1
static struct rw l;
static int x, y;
FORETRACE_LOCK("try shared") static int try_read(struct rw *p) {
    int now = atomic_load(&p->state);
    return now >= 0 && atomic_compare_exchange_strong(&p->state, &now, now + 1);
}
FORETRACE_LOCK("take shared") static void read_(struct rw *p) {
    for (;;) {
        int now = atomic_load(&p->state);
        if (now >= 0 && atomic_compare_exchange_strong(&p->state, &now, now + 1)) return;
        sched_yield();
    }
}
FORETRACE_LOCK("take alone") static void write_(struct rw *p) {
    for (int zero = 0; !atomic_compare_exchange_strong(&p->state, &zero, -1); zero = 0) sched_yield();
}
FORETRACE_LOCK("give either") static void done(struct rw *p) {
    if (atomic_load(&p->state) < 0) atomic_store(&p->state, 0);
    else atomic_fetch_sub(&p->state, 1);
}
T(A) {
    write_(&l); NO("writes alone"); x = x + 1; END; done(&l);
    read_(&l); YES("reads are shared"); y = y + 1; END; done(&l);
    return 0;
}
T(B) {
    read_(&l); NO("reads while nobody writes"); int r = x; int s = x; END; done(&l);
    while (!try_read(&l)) sched_yield();
    y = y + 10;
    done(&l);
    write_(&l); x = x + 10; done(&l);
    return (void *)(long)(r - s);
}
int main() { pthread_t a, b; GO(a, A, 0); GO(b, B, 0); JOIN(a); JOIN(b); printf("%d\n", x); return 0; }
