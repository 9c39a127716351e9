// OpenMP: what its locks, barriers, reductions and regions order, and what they do not.
#include "t.h"
#include <omp.h>
static int a, b, c, d, e, f, sum, turns[8];
static omp_lock_t lock;
int main() {
    omp_init_lock(&lock);
    a = 1;
#pragma omp parallel num_threads(2)
    {
        int me = omp_get_thread_num();
        NO("before the region"); int r = a; int s = a; END;
#pragma omp critical
        { NO("in critical"); b = b + 1; END; }
#pragma omp critical(other)
        { YES("two different criticals"); if (me == 0) c = c + 1; END; }
#pragma omp critical(another)
        { if (me == 1) c = c + 10; }
        omp_set_lock(&lock);
        NO("under a lock"); d = d + 1; END;
        omp_unset_lock(&lock);
        if (me == 0) { YES("no barrier between"); e = e + 1; END; } else { e = e + 10; }
#pragma omp barrier
        if (me == 0) { NO("before the barrier"); f = f + 1; END; }
#pragma omp barrier
        if (me == 1) f = f + s;
#pragma omp for reduction(+ : sum) schedule(static)
        for (int i = 0; i < 8; i++) sum += i;
#pragma omp for schedule(dynamic, 2)
        for (int i = 0; i < 8; i++) { NO("a turn of one's own"); turns[i] = turns[i] + 1; END; }
#pragma omp single
        { NO("in single"); a = a + r; END; }
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < 4; i++) {
#pragma omp ordered
            { NO("in ordered"); b = b + i; END; }
        }
    }
    NO("after the region"); a = a + 1; END;
    omp_destroy_lock(&lock);
    printf("%d %d %d %d\n", a, b, d, sum);
    return 0;
}
