// Threads that never end: one counts, one waits for what does not come.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *counting(void *unused) {
    for (;;) {
        count++;
        usleep(100);
    }
    return unused;
}

static void *waiting(void *unused) {
    pthread_mutex_lock(&mutex);
    for (;;) pthread_cond_wait(&never, &mutex);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, counting, 0);
    pthread_detach(thread);
    pthread_create(&thread, 0, waiting, 0);
    while (count < 10) usleep(100);
    puts("done");
    return 2;
}
