// The main thread asks a pipe, LIMIT milliseconds long, for a worker's answer. With LOST the worker may not answer at all.
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static int answers[2];
static atomic_int busy;

static void *work(void *unused) {
    (void)unused;
#ifdef LOST
    if (atomic_load(&busy)) {
        return NULL;
    }
#endif
    return write(answers[1], "x", 1) == 1 ? NULL : (void *)1;
}

int main(void) {
    pthread_t worker;
    if (pipe(answers) != 0) {
        return 2;
    }
    pthread_create(&worker, NULL, work, NULL);
    atomic_store(&busy, 1);
    struct pollfd answer = {.fd = answers[0], .events = POLLIN};
    int found = poll(&answer, 1, LIMIT);
    pthread_join(worker, NULL);
    return found == 1 ? 0 : 1;
}
