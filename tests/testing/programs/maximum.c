/* Two threads offer values; the largest is to be kept. In most runs the thread that offers less comes later and writes nothing. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int largest;

static void *offer(void *value)
{
    int offered = *(int *)value;
    if (offered > atomic_load(&largest))
        atomic_store(&largest, offered);
    return NULL;
}

int main(void)
{
    int values[2] = {9, 5};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, offer, &values[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (largest != 9)
        printf("error: the largest is %d\n", largest);
    return largest != 9;
}
