/* A thread sleeps, and one that waits for it looks at the clock: the time of the sleep has passed. Another thread is at work meanwhile, so that
 * the sleep lets it run. With -DWRONG the one that waits takes any answer for the sleeper's. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { MILLISECONDS = 40, TURNS = 20 };

static atomic_int done;
static atomic_int answers;

static long long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void *sleeper(void *unused) {
    struct timespec span = {0, MILLISECONDS * 1000000L};
    nanosleep(&span, 0);
    atomic_fetch_add(&answers, 1);
    return unused;
}

static void *worker(void *unused) {
    for (int turn = 0; turn < TURNS; turn++)
        atomic_fetch_add(&done, 1);
#ifdef WRONG
    atomic_fetch_add(&answers, 1);
#endif
    return unused;
}

int main(void) {
    pthread_t threads[2];
    long long begun = milliseconds();
    pthread_create(&threads[0], 0, sleeper, 0);
    pthread_create(&threads[1], 0, worker, 0);
#ifdef WRONG
    pthread_join(threads[1], 0);
    if (atomic_load(&answers) > 0)
        assert(milliseconds() - begun >= MILLISECONDS);
    pthread_join(threads[0], 0);
#else
    for (int thread = 0; thread < 2; thread++)
        pthread_join(threads[thread], 0);
    assert(milliseconds() - begun >= MILLISECONDS);
#endif
    return atomic_load(&done) != TURNS;
}
