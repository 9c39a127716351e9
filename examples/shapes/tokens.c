// A bucket of tokens: consumers wait for one, and look again in a second section.
#include "shape.h"

static int tokens = 5;
static long served, denied;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int stop;

static void *work(void *number) {
    int i = (int)(long)number;
    if (i == 0) {
        for (int k = 0; k < 20; k++) {
            pthread_mutex_lock(&lock);
            if (tokens < 10) tokens += 2;
            pthread_cond_broadcast(&c);
            pthread_mutex_unlock(&lock);
        }
        pthread_mutex_lock(&lock);
        stop = 1;
        pthread_cond_broadcast(&c);
        pthread_mutex_unlock(&lock);
        return 0;
    }
    for (int k = 0; k < 15; k++) {
        pthread_mutex_lock(&lock);
        while (!tokens && !stop) pthread_cond_wait(&c, &lock);
        int ok = tokens > 0;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        if (ok && tokens > 0) {
            tokens--;
            served++;
        } else
            denied++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    run(4, work);
    printf("%ld\n", served + denied);
    return 0;
}
