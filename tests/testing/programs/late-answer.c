/* A request with a time limit, of which the answer comes late. -DRIGHT: the server sees that nobody waits any more. The loop makes runs too
   long for exploring: what is found is found by runs in which a call comes out otherwise. */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#ifndef SECONDS
#define SECONDS 1
#endif
#ifndef TURNS
#define TURNS 0
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int answers, used, fallback;
static volatile int work;

static void *server(void *nothing) {
    pthread_mutex_lock(&lock);
#ifdef RIGHT
    if (!fallback)
#endif
        answers++;
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&lock);
    work = work + 1;
    return nothing;
}

int main(void) {
    struct timespec until;
    pthread_t thread;
    for (int turn = 0; turn < TURNS; turn++) {
        work = work + 1;
    }
    pthread_create(&thread, NULL, server, NULL);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SECONDS;
    pthread_mutex_lock(&lock);
    int status = 0;
    if (answers == 0) {
        status = pthread_cond_timedwait(&done, &lock, &until);
    }
    if (status == ETIMEDOUT && answers == 0) {
        fallback = 1;
    } else {
        used = 1;
    }
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return used == answers ? 0 : 1;
}
