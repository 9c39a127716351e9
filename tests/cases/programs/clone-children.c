// Children that clone and system calls make, past the C library's handlers: they are alone, write into no log, and wait for no turn.
#include "t.h"
#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
static int counted, plain, shared;
static char stack[65536] __attribute__((aligned(16)));
static int counts(void *start) {
    for (int i = 0; i < 50; i++) counted++;
    _exit(counted == (int)(intptr_t)start + 50 ? 3 : 4);
}
static int reads(void *_) { return counted + plain < 100 ? 3 : 4; }
static int end_of(pid_t child) {
    int status = -1;
    if (!child) counts((void *)(intptr_t)counted);
    if (child < 0 || waitpid(child, &status, 0) != child) abort();
    return WEXITSTATUS(status);
}
T(clones) {
    struct clone_args asked = {.exit_signal = SIGCHLD};
    int sum = end_of(clone(counts, stack + sizeof stack, SIGCHLD, 0));
    sum += end_of(clone(reads, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, 0));
    sum += end_of(syscall(SYS_clone3, &asked, sizeof asked));
    YES("beside children"); plain += sum; END;
    return 0;
}
T(forks) {
    int sum = end_of(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    sum += end_of(syscall(SYS_fork));
    plain = 1; shared = sum;
    return 0;
}
int main() {
    pthread_t a, b;
    GO(a, clones, 0); GO(b, forks, 0);
    JOIN(a); JOIN(b);
    NO("after the joins"); shared++; shared++; END;
    printf("%d %d\n", counted, shared);
}
