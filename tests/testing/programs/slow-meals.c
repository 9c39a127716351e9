// Philosophers who eat for a second, and nobody else has anything to do meanwhile. RIGHT takes the first fork of each in one order.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
enum { GUESTS = 2 };
static pthread_mutex_t forks[GUESTS];
static void *dine(void *number) {
    long left = (long)number, right = (left + 1) % GUESTS;
#ifdef RIGHT
    if (left > right) {
        long other = left;
        left = right;
        right = other;
    }
#endif
    pthread_mutex_lock(&forks[left]);
    pthread_mutex_lock(&forks[right]);
    sleep(1);
    pthread_mutex_unlock(&forks[right]);
    pthread_mutex_unlock(&forks[left]);
    return NULL;
}
int main(void) {
    pthread_t guests[GUESTS];
    for (long i = 0; i < GUESTS; i++) {
        pthread_mutex_init(&forks[i], NULL);
    }
    for (long i = 0; i < GUESTS; i++) {
        pthread_create(&guests[i], NULL, dine, (void *)i);
    }
    for (int i = 0; i < GUESTS; i++) {
        pthread_join(guests[i], NULL);
    }
    puts("served");
}
