/* Peterson's lock with its two writes in the wrong order. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <sched.h>
static atomic_int f0, f1, turn;
static int in;

static void *p0(void *x) {
    for (int k = 0; k < 2; k++) {
        turn = 1;
        f0 = 1;
        while (f1 && turn == 1)
            sched_yield();
        in++;
        if (in != 1)
            abort();
        in--;
        f0 = 0;
    }
    return x;
}

static void *p1(void *x) {
    for (int k = 0; k < 2; k++) {
        turn = 0;
        f1 = 1;
        while (f0 && turn == 0)
            sched_yield();
        in++;
        if (in != 1)
            abort();
        in--;
        f1 = 0;
    }
    return x;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, p0, 0);
    pthread_create(&b, NULL, p1, 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
