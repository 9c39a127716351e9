// Two threads add each other's number to their own. If they take turns, step by step, the numbers grow as fast as those of Fibonacci, and no
// order lets them grow faster. With -DRIGHT the check allows for that.
#include <assert.h>
#include <pthread.h>

#define TURNS 9
#ifdef RIGHT
#define MOST 6765 // the 20th number of Fibonacci
#else
#define MOST 6764
#endif

static int left = 1;
static int right = 1;

static void *grow_left(void *unused) {
    for (int turn = 0; turn < TURNS; turn++) {
        left += right;
    }
    return unused;
}

static void *grow_right(void *unused) {
    for (int turn = 0; turn < TURNS; turn++) {
        right += left;
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, grow_left, NULL);
    pthread_create(&threads[1], NULL, grow_right, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert(left <= MOST);
    assert(right <= MOST);
    return 0;
}
