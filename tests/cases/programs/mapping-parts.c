#include "t.h"
// Blocks of which a part is allocated anew: by a mapping in their middle, as the stack of a thread, by a piece that is unmapped. The rest goes on.
struct area { int count, locked; char stack[1 << 17] __attribute__((aligned(4096))); int after; };
static int *map, *moved, *kept, shared; static struct area *area; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int fill(int n) { volatile char own[300]; memset((char *)own, n, sizeof own); return own[n]; }
static void add(int *p, int n) { *p = *p + n + fill(n) - n; }
static void add_locked(int *p, int n) { LOCK; add(p, n); UNLOCK; }
static void replace(int page) { mmap((char *)map + page * 4096, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); }
T(A) {
    YES("before a page that is mapped anew"); int r = map[100]; map[100] = r + shared; END;
    YES("after it"); int s = map[5000]; map[5000] = s + 1; END;
    YES("before a stack"); int t = area->count; area->count = t + 1; END;
    YES("after a stack"); int u = area->after; area->after = u + 1; END;
    YES("after blocks that are cut up"); int w = *kept; *kept = w + 1; END;
    YES("moved by mremap"); int v = *moved; *moved = v + 1; END;
    NO("mapping, with a lock"); add_locked(map + 200, 1); END;
    NO("stack, with a lock"); add_locked(&area->locked, 1); END;
    NO("moved, with a lock"); add_locked(moved + 1, 1); END;
    return 0;
}
T(B) {
    replace(1); replace(2); munmap((char *)map + 3 * 4096, 4096);
    add(map + 100, 10); add(map + 5000, 10); shared = map[100]; add(&area->count, 10); add(&area->after, 10); add(moved, 10); add(kept, 10);
    add_locked(map + 200, 10); add_locked(&area->locked, 10); add_locked(moved + 1, 10);
    return 0;
}
int main() {
    pthread_t a, b; pthread_attr_t attributes;
    map = mmap(0, 16 * 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    moved = mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); moved[1] = 5;
    moved = mremap(moved, 4096, 8 * 4096, MREMAP_MAYMOVE);
    for (int n = 0; n < 4; n++) { char *big = malloc(4000); big[n] = 1; big[3999] = 2; free(big); char *part = malloc(1200 + 16 * n); part[5] = 3; }
    kept = malloc(sizeof *kept); *kept = 0;
    area = aligned_alloc(4096, sizeof *area); memset(area, 0, sizeof *area);
    pthread_attr_init(&attributes); pthread_attr_setstack(&attributes, area->stack, sizeof area->stack);
    GO(a, A, 0); pthread_create(&b, &attributes, B, 0); JOIN(a); JOIN(b);
    printf("%d\n", moved[1] > 0); return 0;
}
