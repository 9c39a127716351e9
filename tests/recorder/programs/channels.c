// A counter of bytes that one thread adds to before it writes to a pipe, and another one after it has read from there.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int fds[2], event, by_pipe, by_event;

static void *reads(void *unused) {
    char byte;
    if (read(fds[0], &byte, 1) != 1) abort();
    by_pipe += 1;
    uint64_t count;
    if (read(event, &count, sizeof count) != sizeof count || count != 2) abort();
    by_event += 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    uint64_t one = 1;
    // The second counter gets the first one's descriptor, but not what was written there.
    int before = eventfd(0, 0);
    if (write(before, &one, sizeof one) != sizeof one || close(before)) abort();
    if ((event = eventfd(0, 0)) != before || pipe(fds)) abort();
    by_event += 1;
    if (write(event, &one, sizeof one) != sizeof one || write(event, &one, sizeof one) != sizeof one) abort();
    pthread_create(&thread, 0, reads, 0);
    by_pipe += 1;
    if (write(fds[1], "x", 1) != 1) abort();
    pthread_join(thread, 0);
    return by_pipe + by_event - 4;
}
