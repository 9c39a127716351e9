/* A thread tries a lock once, and skips its work where another one holds it. That one holds it for a moment, long after. -DRIGHT: then the
   work is done later. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int work;
static int is_done;

static void *worker(void *nothing) {
    if (pthread_mutex_trylock(&lock) == 0) {
        is_done = 1;
        pthread_mutex_unlock(&lock);
    }
    work = work + 1; /* so that several threads use it, and its accesses count */
    return nothing;
}

int main(void) {
    pthread_t thread;
    work = 1;
    pthread_create(&thread, NULL, worker, NULL);
    for (int turn = 0; turn < 6000; turn++) {
        work = work + 1;
    }
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
#ifdef RIGHT
    is_done = 1;
#endif
    return is_done ? 0 : 1;
}
