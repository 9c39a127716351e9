// What OpenMP decides by who comes first orders nothing: single, dynamic loops, tasks, sections.
#include "t.hpp"
#include <omp.h>
static int racy_task, guarded_task, racy_dyn, dyn_cell[8], single_cell, sect, red, racy_single;
int main() {
    omp_set_num_threads(3);
    #pragma omp parallel
    {
        #pragma omp single
        {
            single_cell = 1; single_cell = 2;
            for (int i = 0; i < 3; i++) {
                #pragma omp task firstprivate(i)
                {
                    YES("tasks race"); racy_task += i; END;
                    #pragma omp critical(x)
                    { NO("critical in a task"); guarded_task += i; guarded_task += i; END; }
                }
            }
            #pragma omp taskwait
            NO("after taskwait"); int r = guarded_task; r += guarded_task; END;
            (void)r;
        }
        NO("after single"); int q = single_cell; q += single_cell; END;
        #pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < 6; i++) {
            NO("own turn"); dyn_cell[i] += i; dyn_cell[i] += q; END;
            YES("dynamic turns race"); racy_dyn += i; END;
        }
        #pragma omp for reduction(+ : red)
        for (int i = 0; i < 6; i++) red += i;
        #pragma omp single nowait
        { racy_single = 1; racy_single = 2; }
        YES("beside single nowait"); int z = racy_single; z += racy_single; END;
        (void)z;
        #pragma omp sections
        {
            #pragma omp section
            { YES("sections race"); sect += 1; END; }
            #pragma omp section
            { YES("sections race"); sect += 2; END; }
        }
    }
    printf("%d %d\n", guarded_task, red);
}
