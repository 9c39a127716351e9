/* A thread waits in a loop that no hook sees, so that it never gives its turn away: with one thread at a time the program goes on for ever, and
   by itself it ends. With -DWRONG the flag may be set before it is cleared: then the program itself goes on for ever. */
#include <pthread.h>
#include <stdio.h>

static volatile int ready;
static int result;

static void *work(void *argument)
{
    result = 1;
    ready = 1;
    return argument;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
#ifdef WRONG
    ready = 0;
#endif
    __asm__ volatile("1: pause; cmpl $0, (%0); je 1b" : : "r"(&ready) : "memory", "cc");
    pthread_join(thread, NULL);
    printf("%d\n", result);
    return 0;
}
