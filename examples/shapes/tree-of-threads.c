// Each thread starts two others, six levels deep; the leaves count.
#include "shape.h"

static int total;

static void *work(void *number) {
    long d = (long)number;
    if (d == 0) {
        int t = total;
        total = t + 1;
        return 0;
    }
    pthread_t l, r;
    pthread_create(&l, 0, work, (void *)(d - 1));
    pthread_create(&r, 0, work, (void *)(d - 1));
    pthread_join(l, 0);
    pthread_join(r, 0);
    return 0;
}

int main(void) {
    work((void *)6);
    printf("%d\n", total);
    return 0;
}
