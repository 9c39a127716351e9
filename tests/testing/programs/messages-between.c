/* One thread sends two messages of a byte; another reads them, or looks once without waiting. MORE waits for a third, which nobody sends. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];

static void *send_both(void *unused)
{
    write(ends[1], "a", 1);
    write(ends[1], "b", 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    char byte;
#ifdef SOCKET
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 2;
#else
    if (pipe(ends))
        return 2;
#endif
#ifdef LOOK
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
#endif
    pthread_create(&thread, NULL, send_both, NULL);
#ifdef LOOK
    read(ends[0], &byte, 1);
#else
#ifdef MORE
    enum { MESSAGES = 3 };
#else
    enum { MESSAGES = 2 };
#endif
    for (int i = 0; i < MESSAGES; i++) {
#ifdef POLL
        poll(&(struct pollfd){ .fd = ends[0], .events = POLLIN }, 1, -1);
#endif
        read(ends[0], &byte, 1);
    }
#endif
    pthread_join(thread, NULL);
    return 0;
}
