/* A thread waits twice for an event counter that another one writes twice, and nobody reads it. With EPOLLET two writes before the first report make only one. */
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#ifdef LEVEL
#define EDGES 0
#else
#define EDGES EPOLLET
#endif

static int watching, counter;

static void *writes(void *none)
{
    uint64_t one = 1;
    for (int times = 0; times < 2; times++)
        if (write(counter, &one, sizeof one) != sizeof one)
            _exit(2);
    return none;
}

int main(void)
{
    pthread_t writer;
    struct epoll_event event = {.events = EPOLLIN | EDGES};
    watching = epoll_create1(0);
    counter = eventfd(0, 0);
    if (epoll_ctl(watching, EPOLL_CTL_ADD, counter, &event))
        return 2;
    pthread_create(&writer, NULL, writes, NULL);
    for (int times = 0; times < 2; times++)
        if (epoll_wait(watching, &event, 1, -1) != 1)
            return 2;
    pthread_join(writer, NULL);
    return 0;
}
