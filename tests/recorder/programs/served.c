/* Two threads, each of which answers what another program sends by a socket. `served PORT-FILE WAY` listens and waits for input in this way: block, poll,
 * epoll, masked (epoll_pwait) or select. With the way `connect` it connects to the port in the file. */
#include <foretrace.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int bare, guarded;
static const char *way;

static void count(int by) {
    FORETRACE_ATOMIC_BEGIN("bare");
    int old = bare; /* the other thread may count in between */
    bare = old + by;
    FORETRACE_ATOMIC_END("bare");
    pthread_mutex_lock(&lock);
    FORETRACE_ATOMIC_BEGIN("guarded");
    old = guarded; /* but not here */
    guarded = old + by;
    FORETRACE_ATOMIC_END("guarded");
    pthread_mutex_unlock(&lock);
}

static int watched(int file) {
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = file};
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, file, &event)) abort();
    return epoll;
}

/* Until there is something to read. */
static void await(int file, int epoll) {
    struct pollfd one = {.fd = file, .events = POLLIN};
    struct epoll_event event;
    sigset_t none;
    sigemptyset(&none);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(file, &set);
    if (*way == 'p') poll(&one, 1, 10000);
    if (*way == 'e') epoll_wait(epoll, &event, 1, 10000);
    if (*way == 'm') epoll_pwait(epoll, &event, 1, 10000, &none);
    if (*way == 's') select(file + 1, &set, 0, 0, 0);
}

static void *serve(void *argument) {
    int file = (int)(long)argument, epoll = watched(file);
    char text[16];
    if (*way != 'b' && *way != 'c') fcntl(file, F_SETFL, O_NONBLOCK);
    for (;;) {
        await(file, epoll);
        ssize_t length = read(file, text, sizeof text);
        if (length < 0 && errno == EAGAIN) continue;
        if (length <= 0) break;
        count(text[0] - '0');
        if (send(file, text, (size_t)length, MSG_NOSIGNAL) != length) break;
    }
    close(epoll);
    close(file);
    return 0;
}

/* Takes a connection. */
static int accepted(int listening) {
    struct sockaddr_in peer;
    socklen_t length = sizeof peer;
    int file = accept(listening, (struct sockaddr *)&peer, &length);
    if (file < 0 || length != sizeof peer || peer.sin_family != AF_INET || !peer.sin_port) abort();
    return file;
}

/* Makes one. */
static int connected(struct sockaddr_in *address) {
    int file = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(file, (struct sockaddr *)address, sizeof *address)) abort();
    return file;
}

int main(int count_of_arguments, char **arguments) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    pthread_t threads[2];
    int listening = -1, port;
    if (count_of_arguments != 3) abort();
    way = arguments[2];
    FILE *file = fopen(arguments[1], *way == 'c' ? "r" : "w");
    if (*way == 'c') {
        if (fscanf(file, "%d", &port) != 1) abort();
        address.sin_port = htons((unsigned short)port);
    } else {
        listening = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(listening, (struct sockaddr *)&address, length) || listen(listening, 4)) abort();
        getsockname(listening, (struct sockaddr *)&address, &length);
        fprintf(file, "%d\n", ntohs(address.sin_port));
    }
    fclose(file);
    for (int i = 0; i < 2; i++) {
        int other = *way == 'c' ? connected(&address) : accepted(listening);
        pthread_create(&threads[i], 0, serve, (void *)(long)other);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    printf("guarded %d\n", guarded);
    return bare != guarded;
}
