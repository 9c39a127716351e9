#include "t.h"
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
// With EPOLLET each write is reported once, also where nobody reads it: the second report comes after the second write.
static int first, second, bare, y, watching, counter;
static sem_t next;
T(writes) {
    uint64_t one = 1;
    first = 5; write(counter, &one, 8);
    sem_wait(&next);
    second = 5; write(counter, &one, 8); bare = 7;
    return 0;
}
T(waits) {
    struct epoll_event event;
    epoll_wait(watching, &event, 1, -1);
    NO("after the first write"); int r = first; y = r; r = first; END;
    sem_post(&next);
    epoll_wait(watching, &event, 1, -1);
    NO("after the second write"); int s = second; y = s; s = second; END;
    YES("beside the writer"); int k = bare; bare = k + 1; END;
    return 0;
}
int main() {
    pthread_t threads[2];
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    sem_init(&next, 0, 0);
    counter = eventfd(0, 0);
    watching = epoll_create1(0);
    epoll_ctl(watching, EPOLL_CTL_ADD, counter, &event);
    GO(threads[0], waits, 0); GO(threads[1], writes, 0);
    for (int i = 0; i < 2; i++) JOIN(threads[i]);
    puts("end");
    return 0;
}
