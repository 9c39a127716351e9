// The program ends without waiting for its other thread: that may have done nothing by then, or all that it does.
// HASTY: the thread fails if it comes before the write. LATE: if it comes between the write and the end. EARLY_END: main fails if it ends first.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int x, seen;

static void *other(void *unused) {
#ifdef EARLY_END
    x = 1;
#elif defined(HASTY)
    if (x == 0) abort();
#elif defined(LATE)
    if (x == 1) abort();
#else
    seen = x;
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
#ifdef EARLY_END
    assert(x == 1);
    pthread_join(thread, 0);
#else
    x = 1;
#endif
    return 0;
}
