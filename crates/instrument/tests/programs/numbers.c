// Values that are no plain words: floats, long double, 128 bits, vectors, complex numbers, casts between all of them.
#include <complex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int four __attribute__((vector_size(16)));
typedef double two __attribute__((vector_size(16)));
typedef float three __attribute__((ext_vector_type(3)));
struct mixed { char c; long double x; __int128 wide; four v; _Complex double z; };

static struct mixed global;
static float floats[3] = {1.5f, -2.25f, 1e30f};
static long double longs[2] = {1.0L, 2.0L};
_Thread_local int local = 4;
static _Thread_local struct { int a; long b; } locals = {1, 2};

long double times(long double a, long double b) { return a * b; }
__int128 power(__int128 base, int n) { __int128 r = 1; while (n-- > 0) r *= base; return r; }
four add(four a, four b) { return a + b; }
_Complex float turn(_Complex float z) { return z * I; }
struct mixed *fill(struct mixed *m) { m->c = 1; m->x = times(3.5L, 2.0L); m->wide = power(10, 30); m->v = (four){1, 2, 3, 4}; m->z = 1 + 2 * I; return m; }
static float cast(double d) { return (float)d; }

int main(void) {
    struct mixed *m = fill(malloc(sizeof *m));
    global = *m;
    global.v = add(global.v, m->v);
    global.v[2] = 70;
    global.wide += m->wide / 3;
    printf("%Lg %llx %llx\n", global.x, (unsigned long long)(global.wide >> 64), (unsigned long long)global.wide);
    printf("%d %d %d %d\n", global.v[0], global.v[1], global.v[2], global.v[3]);
    _Complex float z = turn(3 + 4 * I);
    printf("%g %g %g %g\n", crealf(z), cimagf(z), creal(global.z), cimag(global.z));
    longs[1] += floats[0]; floats[1] = cast(longs[1]);
    printf("%Lg %g\n", longs[1], floats[1]);
    two d = {1.5, 2.5}; d *= d;
    three t = {1, 2, 3}; static three kept; kept = t * 2;
    printf("%g %g %g %g %g\n", d[0], d[1], kept.x, kept.y, kept.z);
    double values[] = {-1.9, 0.0, 1e10, 255.7};
    for (int i = 0; i < 4; i++)
        printf("%d %u %ld %d %g\n", (int)values[i] & 0xff, (unsigned)(long)values[i], (long)values[i], values[i] > 0.5, (double)(float)values[i]);
    int8_t small = (int8_t)300; uint16_t medium = (uint16_t)-1; int64_t large = small;
    uintptr_t address = (uintptr_t)&global; int *back = (int *)(address | 0);
    printf("%d %u %ld %d\n", small, medium, (long)large, *(char *)back);
    printf("%u %u %u\n", __builtin_popcount(medium), __builtin_clz(40), __builtin_ctzl(64));
    int over; int did = __builtin_add_overflow(2147483647, (int)medium, &over);
    unsigned long product; int wrapped = __builtin_mul_overflow(1UL << 40, 1UL << 30, &product);
    printf("%d %d %d %lu %x\n", did, over, wrapped, product, __builtin_bswap32(0x01020304));
    local += 3; locals.b *= local; locals.a = (int)locals.b;
    printf("%d %d %ld\n", local, locals.a, locals.b);
    printf("%d %d %d\n", -7 / 2, -7 % 3, (int)(-7u >> 28));
    printf("%d %d\n", (1 << 3) ^ 5, ~6 & 0xff);
    _Float16 h = 1.5; static _Float16 half; half = h * 2; printf("%g\n", (double)half);
    __int128 signs[2] = {-1, 1}; printf("%d %d\n", signs[0] < signs[1], (int)(signs[0] == -1));
    return 0;
}
