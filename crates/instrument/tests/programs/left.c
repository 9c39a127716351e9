// What is left as it is, or nearly: naked functions, resolvers, jumps out of assembly, 16 byte atomics;
// and what cannot be there twice.
#include <stdint.h>
#include <stdio.h>

__attribute__((naked, noinline)) static int bare(void) { asm("movl $42, %eax\n\tret"); }
static int fast(void) { return 7; }
static int (*resolve(void))(void) { return fast; }
int chosen(void) __attribute__((ifunc("resolve")));

static int jumps(int x) {
    asm goto("testl %0, %0; jnz %l[there]" : : "r"(x) : "cc" : there);
    return 1;
there:
    return 2;
}

static _Alignas(16) __int128 number = 5;
__attribute__((target("cx16"), noinline)) static int wide(void) {
    __int128 expected = 5, seen = __atomic_load_n(&number, __ATOMIC_SEQ_CST);
    int swapped = __atomic_compare_exchange_n(&number, &expected, (__int128)9 << 64, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    int failed = !__atomic_compare_exchange_n(&number, &expected, 1, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    __int128 old = __atomic_fetch_add(&number, 3, __ATOMIC_SEQ_CST);
    __atomic_store_n(&number, old + 1, __ATOMIC_RELEASE);
    return (int)seen + swapped * 10 + failed * 100 + (int)(old >> 64) * 1000 + (int)number;
}

static int table(__int128 x) { switch (x) { case 1: return 10; case (__int128)1 << 70: return 20; default: return 30; } }
__attribute__((section(".init.text"))) int early(void) { return 3; }
__attribute__((noreturn)) void leave(int code);
int shared_with_assembly;
asm(".globl from_assembly\nfrom_assembly:\n\tmovl $5, shared_with_assembly(%rip)\n\tret\n");
void from_assembly(void);

__attribute__((noinline)) int labelled(int x) {
    asm volatile("nop\nonly_once%=: nop" ::: "memory");
    asm volatile("this_is_a_symbol: nop" ::: "memory");
    return x + 1;
}
__attribute__((noinline)) int resumed(void) {
    static void *next; // keeps the address of a block from one call to the next
    if (next) goto *next;
    next = &&second;
    return 1;
second:
    next = &&third;
    return 2;
third:
    next = 0;
    return 3;
}

int main(void) {
    printf("%d %d %d %d %d\n", labelled(1), resumed(), resumed(), resumed(), resumed());
    printf("%d %d %d %d\n", bare(), chosen(), jumps(0), jumps(3));
    printf("%d\n", wide());
    printf("%d %d %d\n", table(1), table((__int128)1 << 70), early());
    from_assembly();
    printf("%d\n", shared_with_assembly);
    return 0;
}
