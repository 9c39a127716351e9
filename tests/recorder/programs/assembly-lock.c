// A lock whose assembly is more than one atomic operation, so that the trace does not show it; LOCKED says whether the count is under it.
#include <pthread.h>
#include <sched.h>

static int held, count;

static int tried(void) {
    int was;
    __asm__ volatile("movl $1, %%eax\n\txchgl %%eax, %1\n\tmovl %%eax, %0" : "=r"(was), "+m"(held) : : "eax", "memory");
    return !was;
}

static void take(void) {
    while (LOCKED && !tried())
        sched_yield();
}

static void give(void) {
    if (LOCKED)
        __asm__ volatile("movl $0, %0\n\tnop" : "=m"(held) : : "memory");
}

static void *add(void *unused) {
    take();
    count++;
    give();
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return count > 2;
}
