// A lock by compare-and-swap in a loop, that two threads take. Nothing comes between who takes it and who gives it back.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int held;
static long balance[2] = {50, 50};

static void transfer(int from, int to) {
    int no = 0;
    while (!atomic_compare_exchange_weak(&held, &no, 1)) {
        no = 0;
        sched_yield();
    }
    balance[from] -= 5;
    balance[to] += 5;
    atomic_store(&held, 0);
}

static void *one(void *unused) {
    transfer(0, 1);
    transfer(0, 1);
    return unused;
}

static void *two(void *unused) {
    transfer(1, 0);
    transfer(1, 0);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return balance[0] + balance[1] != 100;
}
