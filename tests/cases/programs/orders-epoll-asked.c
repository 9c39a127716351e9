#include "t.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
// A report comes after the epoll_ctl that asked for it: one that adds a descriptor which is ready already, one that turns it on. With
// EPOLLONESHOT the next report comes after the next request, so threads hand on what belongs to the descriptor.
static struct connection { int state, bare; } added, on, turns;
static int watching[3], counts[2];
static void ask(int at, int how, int file, unsigned events, void *data) {
    struct epoll_event event = {.events = events, .data.ptr = data};
    if (epoll_ctl(watching[at], how, file, &event)) abort();
}
static struct connection *wait_for(int at) {
    struct epoll_event event;
    return epoll_wait(watching[at], &event, 1, -1) == 1 ? event.data.ptr : 0;
}
T(accepts) {
    added.state = 5; ask(0, EPOLL_CTL_ADD, eventfd(1, 0), EPOLLIN, &added); added.bare = 3;
    on.state = 5; ask(1, EPOLL_CTL_MOD, counts[0], EPOLLIN | EPOLLONESHOT, &on); on.bare = 3;
    return 0;
}
T(serves) {
    struct connection *one = wait_for(0);
    NO("after it was added"); one->state++; END;
    YES("beside who added it"); one->bare++; END;
    one = wait_for(1);
    NO("after it was turned on"); one->state++; END;
    YES("beside who turned it on"); one->bare++; END;
    return 0;
}
T(takes_turns) {
    uint64_t token;
    struct connection *one = wait_for(2);
    NO("one thread at a time"); one->state++; END;
    read(counts[1], &token, sizeof token);
    ask(2, EPOLL_CTL_MOD, counts[1], EPOLLIN | EPOLLONESHOT, one);
    YES("after the next request"); one->bare++; END;
    return 0;
}
int main() {
    uint64_t two = 2;
    pthread_t threads[4];
    for (int i = 0; i < 3; i++) watching[i] = epoll_create1(0);
    counts[0] = eventfd(1, 0);
    counts[1] = eventfd(0, EFD_SEMAPHORE);
    ask(1, EPOLL_CTL_ADD, counts[0], EPOLLONESHOT, 0);
    ask(2, EPOLL_CTL_ADD, counts[1], EPOLLIN | EPOLLONESHOT, &turns);
    GO(threads[0], serves, 0); GO(threads[1], accepts, 0); GO(threads[2], takes_turns, 0); GO(threads[3], takes_turns, 0);
    if (write(counts[1], &two, sizeof two) != sizeof two) abort();
    for (int i = 0; i < 4; i++) JOIN(threads[i]);
    printf("%d %d %d\n", added.state, on.state, turns.state);
    return 0;
}
