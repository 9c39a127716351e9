// A timer goes off once, with a value that the program waits for: after its threads have met where a file of the name "slow" exists, else
// before. With an argument the program waits for ever if an update was lost.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t got;
static long sum;

static void handler(int signal, siginfo_t *information, void *context) { got = information->si_value.sival_int; }

static long call(long number, long first, const void *second, long third, long fourth) {
    register long r10 __asm__("r10") = fourth;
    __asm__ volatile("syscall" : "+a"(number) : "D"(first), "S"(second), "d"(third), "r"(r10) : "rcx", "r11");
    return number;
}

static int is_slow(void) { return call(SYS_faccessat, -100, "slow", 0, 0) == 0; }

// Unseen.
static void take_time(void) {
    static const struct timespec span = {0, 20000000};
    call(SYS_nanosleep, (long)&span, 0, 0, 0);
}

static void *adds(void *amount) {
    if (!is_slow()) take_time();
    long before = sum;
    sum = before + (long)amount;
    return 0;
}

int main(int count, char **arguments) {
    struct sigaction action = {0};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGRTMIN + 1, &action, 0);
    struct sigevent event = {0};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN + 1;
    event.sigev_value.sival_int = 7;
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    struct itimerspec once = {0};
    once.it_value.tv_nsec = is_slow() ? 200000000 : 1000000;
    timer_settime(timer, 0, &once, 0);
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, adds, (void *)(i + 1));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    while (!got) usleep(200);
    while (count > 1 && sum != 3) pause();
    printf("%d\n", (int)got);
}
