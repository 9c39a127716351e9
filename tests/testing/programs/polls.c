// The main thread asks under a lock again and again until both workers are done. With ROUNDS it gives up after so many times; with EARLY a
// worker says that it is done before it has written its part.
#include <assert.h>
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;
static int sum;

static void *work(void *part) {
    pthread_mutex_lock(&lock);
    done++;
#ifdef EARLY
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    sum += *(int *)part;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static int ask(void) {
    pthread_mutex_lock(&lock);
    int now = done;
    pthread_mutex_unlock(&lock);
    return now;
}

int main(void) {
    pthread_t threads[2];
    int parts[2] = {1, 2};
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, work, &parts[i]);
    }
#ifdef ROUNDS
    for (int i = 0; i < ROUNDS && ask() < 2; i++) {
        sched_yield();
    }
#else
    while (ask() < 2) {
        sched_yield();
    }
#endif
    pthread_mutex_lock(&lock);
    assert(sum == 3);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
}
