#include "t.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
// What a call that looks at several descriptors does not report was not ready. A schedule that lets a thread write there before the call
// is not what happened: the call would report it.
static int polled, selected, waited, ready, p[2], e[4];
static void sends(int file) { uint64_t one = 1; usleep(50000); write(file, &one, 8); }
T(A) { sends(e[0]); YES("poll"); polled = 1; polled += 1; END; return 0; }
T(B) { sends(p[1]); YES("select"); selected = 1; selected += 1; END; return 0; }
T(C) { sends(e[1]); YES("epoll_wait"); waited = 1; waited += 1; END; return 0; }
int main() {
    pthread_t t[3];
    pipe(p);
    for (int i = 0; i < 3; i++) e[i] = eventfd(i == 2, 0);
    GO(t[0], A, 0); GO(t[1], B, 0); GO(t[2], C, 0);
    struct pollfd files[2] = {{e[2], POLLIN, 0}, {e[0], POLLIN, 0}};
    ready += poll(files, 2, 0); // the first is ready
    polled = 5;
    fd_set set; FD_ZERO(&set); FD_SET(p[0], &set);
    struct timeval none = {0, 0};
    ready += select(p[0] + 1, &set, 0, 0, &none); // nothing was ever written there
    selected = 5;
    int epoll = epoll_create1(0);
    struct epoll_event found[2], event = {.events = EPOLLIN};
    for (int i = 1; i < 3; i++) { event.data.u32 = i; epoll_ctl(epoll, EPOLL_CTL_ADD, e[i], &event); }
    ready += epoll_wait(epoll, found, 2, 0);
    waited = 5;
    for (int i = 0; i < 3; i++) JOIN(t[i]);
    printf("%d %d\n", ready < 5, ready > 1);
    return 0;
}
