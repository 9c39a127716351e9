// Accesses of every shape: unions, bit-fields, odd sizes, arrays, copies of all lengths, structs by value.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

union bits { float f; unsigned u; unsigned char bytes[4]; };
struct flags { unsigned a : 3; unsigned b : 7; int c : 22; unsigned long long d : 40; };
#pragma pack(push, 1)
struct odd { char c; int x : 24; short s; long long y : 48; };
#pragma pack(pop)
struct pair { long first; double second; };
struct big { int values[10]; char name[13]; };
struct three { char bytes[3]; };
struct five { char bytes[5]; };
struct empty {};

static struct flags flags;
static struct odd odd = {1, 2, 3, 4};
struct big global_big;
int matrix[4][5];

static struct pair make_pair(long a, double b) { struct pair p = {a, b}; return p; }
struct big make_big(int seed) {
    struct big big;
    for (int i = 0; i < 10; i++) big.values[i] = seed * i;
    snprintf(big.name, sizeof big.name, "big-%d", seed);
    return big;
}
static int sum_big(struct big big) { int s = 0; for (int i = 0; i < 10; i++) s += big.values[i]; big.values[0] = 99; return s; }
static double swap_pair(struct pair p, struct pair *out) { out->first = (long)p.second; out->second = p.first; return p.second; }
struct three make_three(int a) { struct three t = {{a, a + 1, a + 2}}; return t; }
struct five make_five(struct three t) { struct five f = {{t.bytes[0], t.bytes[1], t.bytes[2], 9, 10}}; return f; }

static void copies(void) {
    char *from = malloc(128), *to = malloc(128), local[64];
    for (int i = 0; i < 128; i++) from[i] = (char)(i * 7);
    for (int n = 0; n <= 70; n++) {
        memset(to, n, 128);
        memcpy(to + n % 5, from + n % 3, n);
        memmove(from + 1, from, n);
        unsigned h = 0;
        for (int i = 0; i < 128; i++) h = h * 31 + (unsigned char)to[i] + (unsigned char)from[i];
        printf("%d:%x ", n, h);
    }
    memset(local, 5, sizeof local);
    memcpy(local + 3, "literal", 8);
    memcpy(local + 20, local + 3, 8);
    printf("%s %s\n", local + 3, local + 20);
    char never_seen[16], copy[16];
    memset(never_seen, 3, sizeof never_seen);
    memcpy(copy, never_seen, sizeof copy);
    printf("%d\n", copy[7] + never_seen[2]);
    free(from);
    free(to);
}

int main(void) {
    union bits bits;
    bits.f = 1.5f;
    bits.bytes[0] = 3;
    printf("%x\n", bits.u);
    flags.a = 5; flags.b = 100; flags.c = -1000; flags.d = 0xabcdef0123ULL;
    flags.c += flags.b;
    printf("%u %u %d %llx\n", flags.a, flags.b, flags.c, (unsigned long long)flags.d);
    odd.x -= 70; odd.y = -5; odd.s++;
    printf("%d %d %d %lld\n", odd.c, odd.x, odd.s, (long long)odd.y);
    struct odd *heap = malloc(sizeof *heap);
    *heap = odd;
    heap->x = 0x123456; heap->y = 0x123456789abcLL;
    printf("%x %llx\n", heap->x, (long long)heap->y);
    struct pair p = make_pair(3, 4.25), q;
    printf("%g ", swap_pair(p, &q));
    printf("%ld %g\n", q.first, q.second);
    global_big = make_big(7);
    printf("%d %d %s\n", sum_big(global_big), global_big.values[0], global_big.name);
    struct five f = make_five(make_three(40));
    printf("%d %d %d\n", f.bytes[0], f.bytes[2], f.bytes[4]);
    for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) matrix[i][j] = i * 10 + j;
    int (*row)[5] = &matrix[2];
    printf("%d %d\n", (*row)[3], matrix[3][-1]);
    int n = 6, vla[n], total = 0;
    for (int i = 0; i < n; i++) vla[i] = i * i;
    for (int i = 0; i < n; i++) total += vla[i];
    char *dynamic = __builtin_alloca(n * 3);
    memset(dynamic, 1, n * 3);
    printf("%d %d\n", total, dynamic[n * 3 - 1]);
    struct empty nothing, other; nothing = other; (void)nothing;
    volatile int v = 3; v += 4; v++;
    _Bool flag = v > 2; static _Bool stored; stored = flag;
    printf("%d %d\n", v, stored);
    copies();
    return 0;
}
