/* A loop that waits for a descriptor of signals: what it does then comes after the sender, and what it does after a wait in vain before. */
#include "t.h"
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/epoll.h>
#include <poll.h>
static int a, b, c, d, y, f, e; static pthread_t r;
T(W) { c = 3; a = 5; pthread_kill(r, SIGUSR1); b = 7; return 0; }
T(P) { d = 1; kill(getpid(), SIGUSR2); return 0; }
T(R) { struct epoll_event got; struct signalfd_siginfo i; epoll_wait(e, &got, 1, -1);
 NO("after the signal was reported"); int k = a; y = k; k = a; END; YES("beside the sender"); int j = b; b = j + 1; END; read(got.data.fd, &i, sizeof i); NO("after it was read"); int m = c; y = m; m = c; END; return 0; }
int main() { pthread_t w, p; sigset_t s, t; sigemptyset(&s); sigaddset(&s, SIGUSR1); sigemptyset(&t); sigaddset(&t, SIGUSR2); pthread_sigmask(SIG_BLOCK, &s, 0); pthread_sigmask(SIG_BLOCK, &t, 0);
 f = signalfd(-1, &s, SFD_NONBLOCK); int g = signalfd(-1, &t, SFD_NONBLOCK), timer = timerfd_create(CLOCK_MONOTONIC, 0); struct itimerspec far = {.it_value = {900, 0}}; timerfd_settime(timer, 0, &far, 0);
 e = epoll_create1(0); struct epoll_event ev = {EPOLLIN, {.fd = f}}; epoll_ctl(e, EPOLL_CTL_ADD, f, &ev); ev.data.fd = timer; epoll_ctl(e, EPOLL_CTL_ADD, timer, &ev);
 GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r);
 GO(p, P, 0); struct pollfd q = {g, POLLIN, 0}; while (poll(&q, 1, -1) != 1) ; NO("after a signal to the process"); int k = d; k += d; END;
 struct signalfd_siginfo i; int n = read(g, &i, sizeof i); JOIN(p); printf("%d\n", n == sizeof i); return 0; }
