// Threads hand turns to each other by two semaphores; the counts are not protected.
#include "shape.h"

static sem_t s, t;
static int items, taken;

static void *work(void *number) {
    long i = (long)number;
    for (int k = 0; k < 50; k++) {
        if (i & 1) {
            sem_wait(&s);
            taken = taken + 1;
            sem_post(&t);
        } else {
            sem_wait(&t);
            items = items + 1;
            sem_post(&s);
        }
    }
    return 0;
}

int main(void) {
    sem_init(&s, 0, 0);
    sem_init(&t, 0, 4);
    run(6, work);
    printf("%d\n", items - taken >= 0);
    return 0;
}
