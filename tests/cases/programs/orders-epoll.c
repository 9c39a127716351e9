#include "t.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
static int a, b, y, e, f;
T(W) { uint64_t one = 1; a = 5; write(f, &one, 8); b = 7; return 0; }
T(R) { struct epoll_event v; epoll_wait(e, &v, 1, -1); NO("after epoll_wait"); int r = a; y = r; r = a; END; YES("beside the writer"); int k = b; b = k + 1; END; return 0; }
int main() { pthread_t w, r; struct epoll_event v = {.events = EPOLLIN, .data.u64 = 42}; f = eventfd(0, 0); e = epoll_create1(0); epoll_ctl(e, EPOLL_CTL_ADD, f, &v); GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
