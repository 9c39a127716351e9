// A report is one step: until its event comes, the thread is not beyond the request that the report also needs.
#include "t.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
static int watching, event, around, told;
T(idles) { return 0; }
T(waits) {
    struct epoll_event report;
    YES("around the wait"); int before = around; if (epoll_wait(watching, &report, 1, -1) != 1) abort(); around = before + 1; END;
    NO("after what came before the event"); told++; END;
    return 0;
}
int main() {
    pthread_t a, b; uint64_t one = 1; struct epoll_event asked = {.events = EPOLLIN};
    GO(a, idles, 0);
    watching = epoll_create1(0); event = eventfd(0, 0);
    if (epoll_ctl(watching, EPOLL_CTL_ADD, event, &asked)) abort();
    GO(b, waits, 0);
    around++; told = 5;
    if (write(event, &one, sizeof one) != sizeof one) abort();
    JOIN(a); JOIN(b);
    puts("end");
    return 0;
}
