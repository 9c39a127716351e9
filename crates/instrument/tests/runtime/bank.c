// A lost update that a schedule brings about or avoids, and a condition whose waiter a schedule chooses.
#include "hooks.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int balance, waiting, woken, first;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *deposit(void *unused) {
    pthread_mutex_lock(&mutex);
    uint64_t before = __foretrace_load4(&balance, 1);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    __foretrace_store4(&balance, before + 10, 2);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *sleeper(void *argument) {
    pthread_mutex_lock(&mutex);
    waiting++;
    pthread_cond_wait(&condition, &mutex);
    if (__foretrace_update4(&woken, 1, ADD, 3) == 0)
        first = (int)(intptr_t)argument;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static int all_wait(void) {
    pthread_mutex_lock(&mutex);
    int all = waiting == 2;
    pthread_mutex_unlock(&mutex);
    return all;
}

int main(void) {
    pthread_t threads[4];
    for (intptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i < 2 ? deposit : sleeper, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    while (!all_wait())
        ;
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    for (int i = 2; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("balance %d, first %d\n", balance, first);
}
