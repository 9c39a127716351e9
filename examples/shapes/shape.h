// What the programs of this folder share: all use the threads of POSIX, and start them so.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Runs so many threads, each with its number from 0, and waits for all.
static void run(int threads, void *(*work)(void *)) {
    pthread_t started[threads];
    for (long number = 0; number < threads; number++) pthread_create(&started[number], 0, work, (void *)number);
    for (int number = 0; number < threads; number++) pthread_join(started[number], 0);
}
