// Tasks use memory that belongs to the thread that runs them: two at the same time have two numbers. Before, each thread counts itself.
#include <omp.h>
#include <stdio.h>
static int buffer[8], started;
int main(void) {
    int sum = 0;
#pragma omp parallel num_threads(3)
    {
#ifdef RIGHT
#pragma omp atomic
#endif
        started++;
#pragma omp single
        for (int i = 1; i <= 4; i++) {
#pragma omp task firstprivate(i)
            {
                int *own = &buffer[omp_get_thread_num()];
                *own = i;
                int seen = *own;
#pragma omp atomic
                sum += seen;
            }
        }
    }
    printf("%d of %d\n", sum, started);
    return sum != 10 || started != 3;
}
