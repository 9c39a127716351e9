// Control flow: switches, computed gotos, setjmp, recursion, function pointers, varargs, tail calls.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf escape;
static int depth;

static int kind(long x) {
    switch (x) {
    case -1: return 10;
    case 0: case 1: case 2: return 20;
    case 3 ... 9: return 30;
    case 0x100000000L: return 40;
    default: return x < 0 ? 50 : 60;
    }
}
static const char *letter(unsigned char c) { switch (c) { case 'a': return "A"; case 200: return "200"; } return "?"; }

static int interpret(const char *program) {
    static void *table[] = {&&stop, &&add, &&twice, &&skip, &&add};
    int value = 0;
    const char *p = program;
    goto *table[*p++ - '0'];
add: value += 1; goto *table[*p++ - '0'];
twice: value *= 2;
    goto *table[*p++ - '0'];
skip: p++; goto *table[*p++ - '0'];
stop: return value;
}

static int sum(int count, ...) {
    va_list list, copy;
    va_start(list, count);
    va_copy(copy, list);
    double all = 0;
    for (int i = 0; i < count; i++) all += i % 2 ? va_arg(list, double) : va_arg(list, int);
    int first = va_arg(copy, int);
    va_end(copy);
    va_end(list);
    return (int)all + first;
}

static void dive(int n) { depth++; if (n == 0) longjmp(escape, 7); dive(n - 1); }
static long ackermann(long m, long n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int plus(int a, int b) { return a + b; }
static int minus(int a, int b) { return a - b; }
static int (*operations[])(int, int) = {plus, minus};

__attribute__((noinline)) static int ping(int n, int total);
__attribute__((noinline)) static int pong(int n, int total) {
    if (n == 0) return total;
    __attribute__((musttail)) return ping(n - 1, total + 1);
}
__attribute__((noinline)) static int ping(int n, int total) {
    if (n == 0) return total;
    __attribute__((musttail)) return pong(n - 1, total + 2);
}

int many(int a, long b, char c, double d, float e, void *f, short g) { return a + b + c + d + e + (f != 0) + g; }
__attribute__((constructor)) static void before(void) { printf("before\n"); }
__attribute__((destructor)) static void after(void) { printf("after\n"); }
extern int missing(void) __attribute__((weak));
static int weakly(void) { return missing ? missing() : -1; }
int replaceable(void) __attribute__((weak));
int replaceable(void) { return 12; }

int main(int argc, char **argv) {
    for (long x = -2; x < 12; x++) printf("%d ", kind(x));
    printf("%d %s %s %s\n", kind(0x100000000L), letter('a'), letter(200), letter('z'));
    printf("%d\n", interpret("11231242223010"));
    printf("%d %d\n", sum(4, 1, 2.5, 3, 4.5), sum(8, 1, 1.0, 1, 1.0, 1, 1.0, 1, 1.0));
    volatile int tries = 0;
    int code = setjmp(escape);
    if (code == 0) { tries++; dive(5); }
    printf("%d %d %d\n", code, depth, tries);
    sigjmp_buf buffer;
    if (sigsetjmp(buffer, 0) == 0) siglongjmp(buffer, 3); else printf("back\n");
    printf("%ld\n", ackermann(2, 3));
    int numbers[] = {5, 3, 9, 1, 7};
    qsort(numbers, 5, sizeof *numbers, compare);
    for (int i = 0; i < 5; i++) printf("%d ", operations[i % 2](numbers[i], 2));
    printf("%d\n", ping(1001, 0));
    printf("%d %d %d\n", many(1, 2, 3, 4.5, 5.5f, argv, 6), weakly(), replaceable());
    int i = 0, odd = 0;
    do { if (i % 3 == 0) continue; if (i > 20) break; odd += i & 1 ? i : 0; } while (i++ < 30);
    printf("%d\n", odd);
    asm volatile("" ::: "memory");
    int out; asm("movl %1, %0\n\taddl $2, %0" : "=r"(out) : "r"(odd));
    unsigned low, high; asm("movl $1, %0; movl $2, %1" : "=r"(low), "=r"(high));
    printf("%d %u %u\n", out, low, high);
    char *end; long parsed = strtol("123xyz", &end, 10);
    printf("%ld %s\n", parsed, end);
    return argc > 5;
}
