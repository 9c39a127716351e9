/* Atomic operations in the assembly of Intel's syntax, which Rust's asm! has: a counter, and a fence as crates write it. */
#include <pthread.h>
#include <stdio.h>

static int counter;

static void fence(void)
{
    long local = 0;
    __asm__ volatile("lock not qword ptr [%0]" : : "r"(&local) : "memory");
}

static int add(int *at, int by)
{
    __asm__ volatile("lock xadd dword ptr [%1], %0" : "+r"(by) : "r"(at) : "memory");
    return by;
}

static void *work(void *unused)
{
    fence();
    add(&counter, 2);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    add(&counter, 1);
    fence();
    pthread_join(thread, NULL);
    printf("%d %d\n", add(&counter, 4), counter);
    return 0;
}
