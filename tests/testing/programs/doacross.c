// A loop whose turns wait for each other: no recording shows that.
#include <stdio.h>
int main(void) {
    int x[4] = {1};
#pragma omp parallel for ordered(1) num_threads(2)
    for (int i = 1; i < 4; i++) {
#pragma omp ordered depend(sink : i - 1)
        x[i] = x[i - 1] + 1;
#pragma omp ordered depend(source)
    }
    printf("%d\n", x[3]);
    return x[3] != 4;
}
