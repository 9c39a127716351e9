// A process and its child add to a counter in memory that they share, the child by a load and a store. The child runs unrecorded. With CLOSED there is
// no child.
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <pthread.h>
#include <unistd.h>

static atomic_int *counter;

static void *add(void *unused) {
    atomic_store(counter, atomic_load(counter) + 1);
    return unused;
}

int main(void) {
    counter = mmap(0, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
#ifndef CLOSED
    pid_t child = fork();
    if (child == 0) {
        add(0);
        _exit(0);
    }
#endif
    pthread_t thread;
    pthread_create(&thread, 0, add, 0);
    pthread_join(thread, 0);
#ifndef CLOSED
    waitpid(child, 0, 0);
#endif
    return 0;
}
