// Tasks of OpenMP: what they do at the same time, and what waits for them.
#include "t.hpp"
#include <omp.h>
static int total, racy, after_wait, late, leaf, dyn[4], both;
static int fib(int n) {
    if (n < 2) { YES("leaf without a lock"); leaf = leaf + 1; END; return n; }
    int a, b;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    NO("results of tasks that were waited for"); int r = a + b; r += a - a; END;
    return r;
}
int main() {
    omp_set_num_threads(2);
#pragma omp parallel
    {
#pragma omp single
        {
            total = fib(3);
#pragma omp taskgroup
            {
#pragma omp task
                { after_wait = 1; after_wait = 2; }
            }
            NO("after the group"); int q = after_wait; q += after_wait; END;
#pragma omp task
            { late = 1; late = 2; }
            YES("beside a task"); q += late; q += late; END;
            (void)q;
        }
        NO("after the barrier of single"); int z = late; z += late; END;
        (void)z;
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < 4; i++) { NO("a turn of one's own"); dyn[i] += i; END; YES("all turns"); both = both + i; END; }
    }
    printf("%d\n", total);
}
