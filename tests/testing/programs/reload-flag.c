// A server waits until a signal asks it to load its settings again. The signal may come after it looked at the flag and before it waits. The
// right twin keeps the signal blocked from the look to the wait.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t asked;

static void ask(int signal) {
    asked = signal;
}

static void *server(void *unused) {
#ifdef RIGHT
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    while (!asked) {
        sigsuspend(&before);
    }
#else
    while (!asked) {
        pause();
    }
#endif
    return unused;
}

int main(void) {
    struct sigaction action = {.sa_handler = ask};
    sigaction(SIGUSR1, &action, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, server, NULL);
    usleep(1000);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    puts("loaded");
    return 0;
}
