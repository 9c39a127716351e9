// Each thread takes its place in an array from a variable that main counts up for the next one meanwhile. Most runs fail.
#include <assert.h>
#include <pthread.h>

#define THREADS 5

static int taken[THREADS];
static int next = -1;

static void *take(void *unused) {
    taken[next] = 1;
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        next++;
        pthread_create(&threads[i], 0, take, 0);
    }
    int sum = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], 0);
    }
    for (int i = 0; i < THREADS; i++) {
        sum += taken[i];
    }
    assert(sum == THREADS);
    return 0;
}
