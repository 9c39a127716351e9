/* Two threads add parts to a sum, and almost all parts are nothing: an update that is lost makes no difference but in one place. With -DRIGHT a lock is
   held throughout. */
#include <pthread.h>
#include <stdio.h>

#define ROUNDS 8

static const int parts[2][ROUNDS] = {[1] = {[5] = 3}};
static long sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *own)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        long now = sum;
#ifndef RIGHT
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
#endif
        sum = now + ((const int *)own)[round];
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)parts[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (sum != 3)
        fprintf(stderr, "error: %ld and not 3\n", sum);
    return sum != 3;
}
