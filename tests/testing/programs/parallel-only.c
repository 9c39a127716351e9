/* A thread waits in a loop that no hook sees, so that it never gives its turn away: with one thread at a time the program goes on for ever, and
   by itself it ends. With -DWRONG the flag is set before it is cleared in each third run: then the program itself goes on for ever. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int ready;
static int result;

static void *work(void *argument)
{
    result = 1;
    ready = 1;
    return argument;
}

/* Which run of the program this is: each adds a byte to a file. */
static long run(void)
{
    int file = open("runs", O_WRONLY | O_CREAT | O_APPEND, 0600);
    long number = write(file, ".", 1) == 1 ? lseek(file, 0, SEEK_END) : 0;
    close(file);
    return number;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
#ifdef WRONG
    if (run() % 3 == 0) {
        pthread_join(thread, NULL);
        ready = 0;
    }
#endif
    __asm__ volatile("1: pause; cmpl $0, (%0); je 1b" : : "r"(&ready) : "memory", "cc");
    pthread_join(thread, NULL);
    printf("%d\n", result);
    return 0;
}
