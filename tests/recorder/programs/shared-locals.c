// A thread in the thread-local storage of its creator: to the C library, and to a recording, both are one thread.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static char stack[65536] __attribute__((aligned(16)));
static int id = 1, count;

static int counts(void *unused) {
    count++;
    return 0;
}

int main(void) {
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
    clone(counts, stack + sizeof stack, flags, 0, 0, 0, &id);
    for (int seen; (seen = __atomic_load_n(&id, __ATOMIC_ACQUIRE));) syscall(SYS_futex, &id, FUTEX_WAIT, seen, 0, 0, 0);
    printf("%d\n", count);
}
