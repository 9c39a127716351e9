// Atomic operations that assembly makes in the forms that libraries use: plain moves, compare-and-swap, counters with the flag of zero. Of some
// the register says the size.
#include "t.h"
#include <sched.h>
static unsigned held, readers = 2, ready, mask; static int x, y, sent, freed, by_flag; static void *box;

static int swap_with_flag(unsigned *p, unsigned from, unsigned to) {
    unsigned char done;
    __asm__ volatile("lock; cmpxchgl %2, %0; setz %1" : "+m"(*p), "=a"(done) : "q"(to), "a"(from) : "memory", "cc");
    return done;
}
static unsigned swap_with_old(unsigned *p, unsigned from, unsigned to) {
    __asm__ volatile("lock; cmpxchg %2, %1;" : "+a"(from), "+m"(*p) : "r"(to) : "memory");
    return from;
}
static unsigned load(unsigned *p) { unsigned v; __asm__ volatile("movl %1, %0" : "=q"(v) : "m"(*p) : "memory"); return v; }
static void store(unsigned *p, unsigned v) { __asm__ volatile("movl %1, %0" : "=m"(*p) : "Zq"(v) : "memory"); }
static void *load_pointer(void **p) { void *v; __asm__ volatile("movq %1, %0" : "=q"(v) : "m"(*(char *)p) : "memory"); return v; }
static void store_pointer(void **p, void *v) { __asm__ volatile("mov %1, %0" : "=m"(*(char *)p) : "Zq"(v) : "memory"); }
static int drop(unsigned *p) { unsigned char last; __asm__ volatile("lock decl %0; sete %1" : "+m"(*p), "=qm"(last) :: "memory"); return last; }
static int left(unsigned *p) { _Bool some; __asm__ volatile("lock decl %0" : "+m"(*p), "=@ccnz"(some) :: "memory"); return some; }
static void count(unsigned *p) { __asm__ volatile("lock ; incl (%0)" :: "r"(p) : "memory", "cc"); }
static void set(unsigned *p, unsigned v) { __asm__ volatile("lock; or %1, %0" : "=m"(*p) : "r"(v), "m"(*p) : "memory"); }

static void take(int other) { while (other ? swap_with_old(&held, 0, 1) != 0 : !swap_with_flag(&held, 0, 1)) sched_yield(); }
static void give(void) { store(&held, 0); }

T(A) {
    take(0); NO("under a lock of compare-and-swap"); x = x + 1; END; give();
    YES("no lock"); y = y + 1; END;
    sent = 1; store_pointer(&box, &sent); count(&ready);
    set(&mask, 1);
    if (drop(&readers)) { NO("the last one"); freed = freed + 1; END; }
    return 0;
}
T(B) {
    take(1); x = x + 10; give(); y = y + 10;
    while (!load(&ready)) sched_yield();
    NO("after the message"); int *p = load_pointer(&box); *p = *p + 1; by_flag = *p; END;
    YES("two loads"); unsigned first = load(&mask); unsigned second = load(&mask); if (first != second) by_flag = 0; END;
    if (!left(&readers)) { NO("the last one"); freed = freed + 1; END; }
    return 0;
}
int main() {
    pthread_t a, b; GO(a, A, 0); GO(b, B, 0); JOIN(a); JOIN(b);
    printf("%d %u %d\n", x, mask, freed);
    return x != 11 || mask != 1 || freed != 1 || sent != 2;
}
