/* Threads deposit while the program waits to be told to end: by a file `go`. -DRIGHT: under one lock, else the check and the act are apart. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance;

static long get(void) {
    pthread_mutex_lock(&lock);
    long value = balance;
    pthread_mutex_unlock(&lock);
    return value;
}

static void set(long value) {
    pthread_mutex_lock(&lock);
    balance = value;
    pthread_mutex_unlock(&lock);
}

static void deposit(long amount) {
#ifdef RIGHT
    pthread_mutex_lock(&lock);
    balance += amount;
    pthread_mutex_unlock(&lock);
#else
    set(get() + amount);
#endif
}

static void *work(void *nothing) {
    for (int turn = 0; turn < 20; turn++)
        deposit(1);
    for (int nap = 0; nap < 3000 && access("go", F_OK) != 0; nap++)
        usleep(20000);
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    set(0);
    for (int thread = 0; thread < 2; thread++)
        pthread_create(&threads[thread], NULL, work, NULL);
    for (int thread = 0; thread < 2; thread++)
        pthread_join(threads[thread], NULL);
    fprintf(stderr, "over at %ld\n", get());
    return 0;
}
