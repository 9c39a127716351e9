/* An echo server on socketpairs with epoll: two workers share a table of sessions. Wrong: a session's count is read and written in two sections. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS 2
#define WORKERS 2
#define MESSAGES 3

struct session { int fd; long messages; };
static struct session table[CLIENTS];
static long served;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int poll_fd;

static void count(struct session *session)
{
    pthread_mutex_lock(&lock);
    session->messages++;
    long now = served;
#ifndef RIGHT
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    served = now + 1;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *argument)
{
    for (;;) {
        struct epoll_event event;
        if (epoll_wait(poll_fd, &event, 1, -1) < 1)
            continue;
        struct session *session = event.data.ptr;
        if (!session)
            return argument;
        char text[16];
        ssize_t length = read(session->fd, text, sizeof text);
        if (length <= 0)
            continue;
        count(session);
        write(session->fd, text, length);
        struct epoll_event again = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = session};
        epoll_ctl(poll_fd, EPOLL_CTL_MOD, session->fd, &again);
    }
}

static void *client(void *argument)
{
    int fd = *(int *)argument;
    for (int i = 0; i < MESSAGES; i++) {
        char text[16] = "hello", back[16];
        write(fd, text, 6);
        if (read(fd, back, sizeof back) != 6 || strcmp(text, back))
            exit(2);
    }
    return NULL;
}

int main(void)
{
    int ends[CLIENTS], stop[2];
    pthread_t workers[WORKERS], clients[CLIENTS];
    poll_fd = epoll_create1(0);
    for (int i = 0; i < CLIENTS; i++) {
        int pair[2];
        socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
        table[i].fd = pair[0];
        ends[i] = pair[1];
        struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = &table[i]};
        epoll_ctl(poll_fd, EPOLL_CTL_ADD, pair[0], &event);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, &ends[i]);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    pipe(stop);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, stop[0], &event);
    write(stop[1], "x", 1);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("%ld\n", served);
    return served == CLIENTS * MESSAGES ? 0 : 1;
}
