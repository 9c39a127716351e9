// Handlers, one that jumps, and a thread that waits for signals.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static int waited_for;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sigset_t set;
static sigjmp_buf back;

static void count(int signal) { handled += signal == SIGUSR1; }
static void jump(int signal) { siglongjmp(back, signal); }

static void *waits(void *unused) {
    for (int i = 0; i < 3; i++) {
        int signal;
        if (sigwait(&set, &signal)) abort();
        pthread_mutex_lock(&mutex);
        waited_for += signal == SIGUSR2;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static int waited(void) {
    pthread_mutex_lock(&mutex);
    int now = waited_for;
    pthread_mutex_unlock(&mutex);
    return now;
}

int main(void) {
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    sigaction(SIGUSR1, &action, 0);
    action.sa_handler = jump;
    sigaction(SIGALRM, &action, 0);
    pthread_t thread;
    pthread_create(&thread, 0, waits, 0);
    for (int i = 0; i < 3; i++) {
        pthread_kill(thread, SIGUSR2);
        raise(SIGUSR1);
        while (waited() <= i) usleep(100);
    }
    pthread_join(thread, 0);
    int jumped = sigsetjmp(back, 1);
    if (!jumped) raise(SIGALRM);
    printf("%d %d %d\n", (int)handled, waited_for, jumped == SIGALRM);
}
