// A reader takes sum and count of some measurements in two critical sections, and a measurement may come between. The right twin takes both in
// one.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count, sum;
static int wrong;

static void measured(long value) {
    pthread_mutex_lock(&lock);
    count++;
    sum += value;
    pthread_mutex_unlock(&lock);
}

static void *meter(void *unused) {
    for (int i = 0; i < 3; i++) {
        measured(10);
    }
    return unused;
}

static long average(void) {
    pthread_mutex_lock(&lock);
    long all = sum;
#ifndef RIGHT
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    long of = count;
    pthread_mutex_unlock(&lock);
    return of ? all / of : 10;
}

static void *reader(void *unused) {
    for (int i = 0; i < 3; i++) {
        wrong |= average() != 10;
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, meter, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    puts(wrong ? "wrong average" : "done");
    return wrong;
}
