/* A thread waits by epoll_pwait with a mask that lets a signal in: what it does then comes after what made the counter ready, and after the handler. */
#include "t.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
static int a, b, y, e, f, g, h;
static pthread_t r;
static void handler(int signal) { (void)signal; h = 1; }
T(W) {
    uint64_t one = 1;
    a = 5; write(f, &one, 8); b = 7;
    while (!__atomic_load_n(&g, __ATOMIC_SEQ_CST)) sched_yield();
    pthread_kill(r, SIGUSR1);
    return 0;
}
T(R) {
    struct epoll_event v;
    sigset_t none;
    sigemptyset(&none);
    epoll_pwait(e, &v, 1, -1, &none);
    NO("after epoll_pwait"); int k = a; y = k; k = a; END;
    YES("beside the writer"); k = b; b = k + 1; END;
    uint64_t count;
    if (read(f, &count, 8) != 8) abort();
    __atomic_store_n(&g, 1, __ATOMIC_SEQ_CST);
    while (epoll_pwait(e, &v, 1, -1, &none) >= 0) {}
    NO("after the handler"); k = h; y = k; k = h; END;
    return 0;
}
int main() {
    pthread_t w;
    sigset_t one;
    struct sigaction action = {.sa_handler = handler};
    struct epoll_event v = {.events = EPOLLIN, .data.u64 = 42};
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, 0);
    sigaction(SIGUSR1, &action, 0);
    f = eventfd(0, 0); e = epoll_create1(0); epoll_ctl(e, EPOLL_CTL_ADD, f, &v);
    GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end");
    return 0;
}
