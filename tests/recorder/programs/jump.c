// A handler jumps out of a wait, over and over, and the wait leaves nothing behind.
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sem_t semaphore;
static int rounds, done;
static sigjmp_buf back;

static void jump(int signal) { siglongjmp(back, signal); }

static void wait_below(int depth) {
    volatile char used[200];
    memset((char *)used, depth, sizeof used);
    if (depth) wait_below(depth - 1);
    else sem_wait(&semaphore);
}

static void *waits(void *unused) {
    for (volatile int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1)) continue;
        __atomic_store_n(&rounds, i + 1, __ATOMIC_SEQ_CST);
        wait_below(5);
        abort();
    }
    sem_wait(&semaphore);
    __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
    return unused;
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = jump;
    sigaction(SIGUSR1, &action, 0);
    sem_init(&semaphore, 0, 0);
    pthread_t thread;
    pthread_create(&thread, 0, waits, 0);
    for (int i = 0; i < 3; i++) {
        while (__atomic_load_n(&rounds, __ATOMIC_SEQ_CST) != i + 1) usleep(100);
        usleep(20000);
        pthread_kill(thread, SIGUSR1);
    }
    usleep(20000);
    sem_post(&semaphore);
    pthread_join(thread, 0);
    int left;
    sem_getvalue(&semaphore, &left);
    printf("%d %d\n", done, left);
}
