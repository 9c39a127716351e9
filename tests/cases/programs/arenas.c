#include "t.h"
// Where the allocator puts memory depends on which thread comes to it first. What threads do may depend on that, and a schedule in which
// another one comes first must find the same addresses.
static int *early, *late, n, lower, higher; static sem_t made, done;
T(A) { int *own = malloc(sizeof(int)); n = 1; early = own; sem_post(&made); sem_wait(&done); return 0; }
T(B) {
    late = malloc(sizeof(int));
    YES("two reads"); int k = n; sem_wait(&made);
    if (early < late) { lower = lower + 1; } else { higher = higher + 1; higher = higher + 1; }
    k += n; END; sem_post(&done);
    return 0;
}
int main() {
    sem_init(&made, 0, 0); sem_init(&done, 0, 0);
    pthread_t a, b; GO(a, A, 0); usleep(30000); GO(b, B, 0); JOIN(a); JOIN(b);
    printf("%d\n", lower + higher > 0);
    return 0;
}
