// Another program sends to one thread what answers another one. With an argument it sends that in any case, and before.
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int question[2], answer[2], shared;

static void *asks(void *unused) {
    shared += 1;
    if (write(question[0], "x", 1) != 1) abort();
    return unused;
}

static void *is_answered(void *unused) {
    char byte;
    if (read(answer[0], &byte, 1) != 1) abort();
    shared += 1;
    return unused;
}

int main(int count, char **arguments) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, question) || socketpair(AF_UNIX, SOCK_STREAM, 0, answer)) abort();
    if (fork() == 0) {
        char byte;
        if (count == 1 && read(question[1], &byte, 1) != 1) _exit(1);
        if (write(answer[1], "y", 1) != 1) _exit(1);
        _exit(0);
    }
    struct pollfd polled = {.fd = answer[0], .events = POLLIN};
    if (count > 1 && poll(&polled, 1, -1) != 1) abort();
    pthread_t threads[2];
    pthread_create(&threads[0], 0, asks, 0);
    pthread_create(&threads[1], 0, is_answered, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    wait(0);
    return shared - 2;
}
