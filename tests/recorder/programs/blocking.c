// Threads that sleep in the kernel for each other: pipes, sockets, accept, epoll, poll, select.
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static int fds[2], listener, sum;

static void *adds(void *unused) {
    char byte;
    while (read(fds[0], &byte, 1) == 1) __atomic_fetch_add(&sum, byte, __ATOMIC_SEQ_CST);
    return unused;
}

static void *serves(void *unused) {
    int connection = accept(listener, 0, 0);
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN}, happened[4];
    epoll_ctl(set, EPOLL_CTL_ADD, connection, &event);
    if (epoll_wait(set, happened, 4, -1) != 1) abort();
    char text[10];
    ssize_t length = recv(connection, text, sizeof text, 0);
    send(connection, text, length, 0);
    struct pollfd polled = {.fd = connection, .events = POLLIN};
    poll(&polled, 1, -1);
    if (recv(connection, text, sizeof text, 0) != 0) abort();
    close(connection);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (pipe(fds)) abort();
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, adds, 0);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 5)) abort();
    getsockname(listener, (struct sockaddr *)&address, &size);
    pthread_create(&threads[2], 0, serves, 0);
    for (char byte = 1; byte <= 5; byte++) {
        if (write(fds[1], &byte, 1) != 1) abort();
    }
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection, (struct sockaddr *)&address, size)) abort();
    send(connection, "hello", 5, 0);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(connection, &set);
    select(connection + 1, &set, 0, 0, 0);
    char text[10];
    ssize_t length = recv(connection, text, sizeof text, 0);
    close(connection);
    close(fds[1]);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    printf("%d %.*s\n", sum, (int)length, text);
}
