/* All threads wait, one of them in the kernel: first a child process wakes it, then a timer, then a child of a child that has ended. */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

static int counter, late[2];

static void *wait_for_both(void *unused)
{
    struct itimerspec soon = { .it_value = { .tv_nsec = 300000000 } };
    struct pollfd files[2] = { { .fd = counter, .events = POLLIN }, { .events = POLLIN } };
    uint64_t count;
    poll(files, 1, -1);
    read(counter, &count, sizeof count);
    files[1].fd = timerfd_create(CLOCK_MONOTONIC, 0);
    timerfd_settime(files[1].fd, 0, &soon, NULL);
    poll(files, 2, -1);
    read(late[0], &count, 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    uint64_t one = 1;
    counter = eventfd(0, 0);
    pipe(late);
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            usleep(900000);
            write(late[1], "", 1);
            _exit(0);
        }
        usleep(300000);
        write(counter, &one, sizeof one);
        _exit(0);
    }
    pthread_create(&thread, NULL, wait_for_both, NULL);
    waitpid(child, NULL, 0);
    pthread_join(thread, NULL);
    return 0;
}
