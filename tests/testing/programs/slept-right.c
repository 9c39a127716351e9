// A thread sleeps while another one works, and then looks how long it has slept: never less than it asked for.
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static int work;

static void *worker(void *unused) {
    for (int turn = 0; turn < 30; turn++) __atomic_fetch_add(&work, 1, __ATOMIC_RELAXED);
    return unused;
}

static long long now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000ll + at.tv_nsec;
}

int main(void) {
    const struct timespec span = {0, 20000000};
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    long long begun = now();
    nanosleep(&span, NULL);
    long long slept = now() - begun;
    clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
    long long both = now() - begun;
    pthread_join(thread, NULL);
    if (slept < span.tv_nsec || both < 2 * span.tv_nsec) {
        printf("slept %lld and %lld ns\n", slept, both);
        return 1;
    }
    return 0;
}
