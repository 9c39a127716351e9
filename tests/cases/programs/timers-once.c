#include "t.h"
// Timers that go off once: with a value that the handler gets, and while the thread waits for nothing else.
static volatile sig_atomic_t got, woken; static int x, y; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void value(int s, siginfo_t *information, void *context) { got = information->si_value.sival_int; }
static void wake(int s) { woken = 1; }
T(A) {
    YES("beside a timer with a value"); int k = x; x = k + 1; END;
    for (int i = 0; i < 50; i++) { NO("beside a timer, with a lock"); LOCK; y = y + 1; UNLOCK; END; }
    return 0;
}
T(B) { x = x + 10; for (int i = 0; i < 50; i++) { LOCK; y = y + 10; UNLOCK; } return 0; }
int main() {
    struct sigaction action = {0}; action.sa_sigaction = value; action.sa_flags = SA_SIGINFO; sigaction(SIGRTMIN + 1, &action, 0);
    signal(SIGALRM, wake);
    sigset_t blocked, none; sigemptyset(&none); sigemptyset(&blocked); sigaddset(&blocked, SIGALRM); sigaddset(&blocked, SIGRTMIN + 1);
    timer_t timer; struct sigevent event = {0}; event.sigev_notify = SIGEV_SIGNAL; event.sigev_signo = SIGRTMIN + 1; event.sigev_value.sival_int = 7;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    struct itimerspec soon = {{0, 0}, {0, 300000}}; timer_settime(timer, 0, &soon, 0);
    pthread_t a, b; GO(a, A, 0); GO(b, B, 0);
    while (got == 0) usleep(200);
    JOIN(a); JOIN(b);
    pthread_sigmask(SIG_BLOCK, &blocked, 0);
    struct timespec at = {0, 2000000}; struct itimerspec later = {{0, 0}, at}; timer_t alarm; event.sigev_signo = SIGALRM; timer_create(CLOCK_MONOTONIC, &event, &alarm); timer_settime(alarm, 0, &later, 0);
    while (!woken) sigsuspend(&none);
    printf("%d %d\n", (int)got, y); return 0;
}
