/* One run comes to its time limit, and no other one: what a slow machine does to a loop that asks again and again. With WAITS the others take
   some time. With SLOW_FROM that run and all later ones come to their limits. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

/* Runs without recording come first. */
#ifndef SLOW_RUN
#define SLOW_RUN 15
#endif

static volatile int answer;

static void *ask(void *arg) {
    int file = open("runs", O_CREAT | O_RDWR | O_APPEND, 0600);
    if (write(file, "x", 1) != 1)
        abort();
#ifdef SLOW_FROM
    answer = lseek(file, 0, SEEK_END) < SLOW_FROM;
#else
    answer = lseek(file, 0, SEEK_END) != SLOW_RUN;
#endif
    while (!answer)
        sched_yield();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, ask, NULL);
#ifdef WAITS
    usleep(30000);
#endif
    pthread_join(thread, NULL);
    return 0;
}
