// A bounded buffer of eight places with condition variables; three consumers add up what they take without a lock.
#include "shape.h"

#define N 8
static int q[N];
static int head, tail, count;
static pthread_cond_t ne = PTHREAD_COND_INITIALIZER, nf = PTHREAD_COND_INITIALIZER;
static long sum;

static void put(int v) {
    pthread_mutex_lock(&lock);
    while (count == N) pthread_cond_wait(&nf, &lock);
    q[tail] = v;
    tail = (tail + 1) % N;
    count++;
    pthread_cond_signal(&ne);
    pthread_mutex_unlock(&lock);
}

static int get() {
    pthread_mutex_lock(&lock);
    while (!count) pthread_cond_wait(&ne, &lock);
    int v = q[head];
    head = (head + 1) % N;
    count--;
    pthread_cond_signal(&nf);
    pthread_mutex_unlock(&lock);
    return v;
}

static void *work(void *number) {
    long i = (long)number;
    for (int k = 0; k < 60; k++) {
        if (i < 3)
            put(k);
        else {
            int v = get();
            sum += v;
        }
    }
    return 0;
}

int main(void) {
    run(6, work);
    printf("%ld\n", sum);
    return 0;
}
