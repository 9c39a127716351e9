// A handler runs before its thread's first look at what the handler changes, where a file of the name "slow" exists: the thread takes its
// time then, unseen; else the sender does. With an argument the signal goes to the process, and the kernel chooses a thread: the one
// that waits where "slow" exists, since the other blocks the signal then, unseen; else the other.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static sem_t ready;
static volatile sig_atomic_t got;
static int copied, value;

static void handler(int signal) {
    copied = value + (signal != SIGUSR1);
    got = 1;
}

static long call(long number, long first, const void *second, long third, long fourth) {
    register long r10 __asm__("r10") = fourth;
    __asm__ volatile("syscall" : "+a"(number) : "D"(first), "S"(second), "d"(third), "r"(r10) : "rcx", "r11");
    return number;
}

static int is_slow(void) { return call(SYS_faccessat, -100, "slow", 0, 0) == 0; }

static void take_time(void) {
    for (long i = 0; i < 100000; i++) __asm__ volatile("pause");
}

static void *waits(void *unused) {
    sem_post(&ready);
    if (is_slow()) take_time();
    while (!got) usleep(100);
    return unused;
}

static void *stands_by(void *unused) {
    static const unsigned long set = 1ul << (SIGUSR1 - 1);
    if (is_slow()) call(SYS_rt_sigprocmask, SIG_BLOCK, &set, 0, 8);
    sem_post(&ready);
    while (!got) usleep(100);
    return unused;
}

int main(int count, char **arguments) {
    struct sigaction action = {0};
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, 0);
    pthread_t other, thread;
    if (count > 1) pthread_create(&other, 0, stands_by, 0);
    pthread_create(&thread, 0, waits, 0);
    if (count > 1) sem_wait(&ready);
    sem_wait(&ready);
    value = 5;
    if (!is_slow()) take_time();
    if (count > 1) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &set, 0);
        kill(getpid(), SIGUSR1);
        pthread_join(other, 0);
    } else {
        pthread_kill(thread, SIGUSR1);
    }
    pthread_join(thread, 0);
    printf("%d\n", copied);
}
