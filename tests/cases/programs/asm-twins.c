// Assembly that is one atomic operation is seen as that.
#include "t.h"
#include <sched.h>
static volatile int l; static int x, y, count;
static void take(void) { int v; do { v = 1; __asm__ volatile("xchgl %0,%1" : "+r"(v), "+m"(l) :: "memory"); if (v) sched_yield(); } while (v); }
static void give(void) { __asm__ volatile("movl $0,%0" : "=m"(l) :: "memory"); }
static int add(int *p, int by) { __asm__ volatile("lock; xaddl %0,%1" : "+r"(by), "+m"(*p) :: "memory"); return by; }
T(A) {
    take(); NO("under a lock of assembly"); x = x + 1; END; give();
    YES("no lock"); y = y + 1; END;
    YES("two additions"); add(&count, 1); add(&count, 1); END;
    return 0;
}
T(B) { take(); x = x + 10; give(); y = y + 10; add(&count, 10); __asm__ volatile("lock incl %0" : "+m"(count) :: "memory"); return 0; }
int main() { pthread_t a, b; GO(a, A, 0); GO(b, B, 0); JOIN(a); JOIN(b); printf("%d %d\n", x, count); return 0; }
