#include "t.h"
// One thread of a round is told apart, whichever it is; a replay tells the same one apart.
static pthread_barrier_t b;
static int before, alone, rounds;
T(A) {
    for (int k = 0; k < 2; k++) {
        YES("before the barrier"); int seen = before; before = seen + 1; END;
        if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD) { NO("the one alone"); alone = alone + 1; rounds = alone; END; }
        pthread_barrier_wait(&b);
    }
    return 0;
}
int main() {
    pthread_t x, y;
    pthread_barrier_init(&b, 0, 2);
    GO(x, A, 0); GO(y, A, 0);
    JOIN(x); JOIN(y);
    printf("%d %d\n", alone, rounds);
    return 0;
}
