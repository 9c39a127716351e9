// A report comes after the epoll_ctl that asked for such an event, if the one before asked for others. A request for the same events orders
// nothing.
#include "t.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
static int watching[3], counts, ends[2], same;
static struct { int state, bare; } reading, writing, again;
static void ask(int at, int how, int file, unsigned events) {
    struct epoll_event event = {.events = events};
    if (epoll_ctl(watching[at], how, file, &event)) abort();
}
static void wait_for(int at) {
    struct epoll_event event;
    if (epoll_wait(watching[at], &event, 1, -1) != 1) abort();
}
T(asks) {
    reading.state = 5; ask(0, EPOLL_CTL_MOD, counts, EPOLLIN); reading.bare = 3;
    writing.state = 5; ask(1, EPOLL_CTL_MOD, ends[1], EPOLLIN | EPOLLOUT); writing.bare = 3;
    again.state = 5; ask(2, EPOLL_CTL_MOD, same, EPOLLIN);
    return 0;
}
T(waits) {
    wait_for(0);
    NO("after reading was asked for"); reading.state++; END;
    YES("beside who asked for reading"); reading.bare++; END;
    wait_for(1);
    NO("after writing was asked for"); writing.state++; END;
    YES("beside who asked for writing"); writing.bare++; END;
    return 0;
}
T(waits_for_the_same) {
    wait_for(2);
    YES("it was asked for before"); again.state++; END;
    return 0;
}
int main() {
    for (int i = 0; i < 3; i++) watching[i] = epoll_create1(0);
    counts = eventfd(1, 0);
    same = eventfd(1, 0);
    if (pipe(ends)) abort();
    ask(0, EPOLL_CTL_ADD, counts, EPOLLPRI);
    ask(1, EPOLL_CTL_ADD, ends[1], EPOLLIN);
    ask(2, EPOLL_CTL_ADD, same, EPOLLIN);
    pthread_t a, b, c;
    GO(a, waits, 0); GO(b, asks, 0); GO(c, waits_for_the_same, 0);
    JOIN(a); JOIN(b); JOIN(c);
    printf("%d %d\n", reading.state, writing.state);
    return 0;
}
