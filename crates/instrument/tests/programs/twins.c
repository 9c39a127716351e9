// Functions that are there twice, plain and instrumented, have one memory and one address, whichever of them runs.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The stub's, where there is one: 0 runs plain code from the next call on, 2 instrumented code.
__attribute__((weak)) void stub_mode(int mode);
static void mode(int wanted) { if (stub_mode) stub_mode(wanted); }

struct big { long words[9]; char tail; };
struct pair { double x; long y; };

static int calls;
static __thread int own = 3;
static const char *const names[] = {"zero", "one", "two"};
static const int squares[] = {0, 1, 4, 9, 16};

__attribute__((noinline)) static int count(void) { static int times; calls++; return ++times + own++; }
int counted(void) { return count(); }
int same(void) __attribute__((alias("counted")));
__attribute__((weak)) int replaceable(int x) { return x * 3 + count(); }
static inline int small(int x) { return squares[x % 5] + calls; }

int sum(int n, ...) {
    va_list list;
    int total = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++) total += i % 2 ? (int)va_arg(list, double) : va_arg(list, int);
    va_end(list);
    return total;
}
char *text(char *to, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsprintf(to, format, list);
    va_end(list);
    return to;
}
struct big turned(struct big b, signed char c, unsigned short s, _Bool f, float x, __int128 wide) {
    for (int i = 0; i < 4; i++) { long w = b.words[i]; b.words[i] = b.words[8 - i]; b.words[8 - i] = w; }
    b.words[4] += c + s + f + (long)x + (long)(wide >> 70);
    b.tail ^= 1;
    return b;
}
struct pair halved(struct pair p) { return (struct pair){p.x / 2, p.y / 2}; }
static int by_value(const void *a, const void *b) { calls++; return *(const int *)a - *(const int *)b; }
typedef int (*compare)(const void *, const void *);
compare comparison(void) { return by_value; }
static compare kept = by_value;
int is_kept(compare it) { return it == kept && it == by_value; }

static jmp_buf back;
__attribute__((noinline)) static void leap(int n) { if (n == 0) longjmp(back, 7); leap(n - 1); }
int leaps(int n) {
    volatile int before = 5;
    int code = setjmp(back);
    if (code) return code + before;
    before = 6;
    leap(n);
    return 0;
}
int interpret(const unsigned char *code) { // its blocks have addresses
    static const void *const table[] = {&&add, &&twice, &&stop};
    int value = 1;
    goto *table[*code++];
add: value += count() > 0; goto *table[*code++];
twice: value *= 2; goto *table[*code++];
stop: return value;
}
int grows(int n) {
    char *piece = __builtin_alloca(n), fixed[40];
    memset(piece, 'a', n);
    memset(fixed, 'b', sizeof fixed);
    int total = 0;
    for (int i = 0; i < n; i++) total += piece[i] + fixed[i % 40];
    return total;
}
static int constructed;
__attribute__((constructor)) static void construct(void) { constructed = 11; }
__attribute__((destructor)) static void destruct(void) { printf("destructed %d\n", calls > 0); }

void round_of(int n) {
    struct big b = {{1, 2, 3, 4, 5, 6, 7, 8, 9}, 'x'};
    struct pair p = halved((struct pair){9, 9});
    int numbers[] = {5, 3, 9, 1};
    char buffer[64];
    b = turned(b, -3, 65535, 1, 2.5f, (__int128)9 << 70);
    qsort(numbers, 4, sizeof *numbers, comparison());
    printf("%d: %d %d %d %d %d\n", n, counted(), same(), replaceable(n), small(n), sum(4, n, 2.0, 3, 4.5));
    printf("%s %s %ld %ld %ld %d\n", text(buffer, "<%d %s %g>", n, names[n % 3], 1.5), names[n % 3], b.words[0], b.words[4], b.words[8], b.tail);
    printf("%g %ld %d%d%d%d %d\n", p.x, p.y, numbers[0], numbers[1], numbers[2], numbers[3], is_kept(comparison()));
    printf("%d %d %d\n", leaps(n), interpret((const unsigned char *)"\0\1\0\1\2"), grows(n + 50));
    printf("%d %d %d\n", same == counted, own, calls > 4);
}

int main(void) {
    printf("%d\n", constructed);
    round_of(0);
    mode(0);
    round_of(1);
    compare plain = comparison();
    mode(2);
    printf("%d %d\n", plain == comparison(), is_kept(plain));
    round_of(2);
    mode(0);
    round_of(3);
    return 0;
}
