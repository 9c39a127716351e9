// Passengers book seats of one flight. The check and the booking are two critical sections. Whoever comes late sees that nothing is
// left, and leaves: then no second thread books in the run that passes.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int left = 1;
static int prices[64];

static int available(void) {
    pthread_mutex_lock(&lock);
    int seats = left;
    pthread_mutex_unlock(&lock);
    return seats;
}

static void *passenger(void *number) {
    (void)number;
    if (available() < 1) return NULL;
    pthread_mutex_lock(&lock);
    left--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, passenger, NULL);
        for (int round = 0; round < 64; round++) __atomic_fetch_add(&prices[round], 1, __ATOMIC_RELAXED);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%d left\n", left);
    return left < 0;
}
