#include "pool.h"
#include <stdio.h>

static void *work(void *which) { return (void *)(long)take((int)(long)which); }

int main(void) {
    pthread_t one, two;
    void *first, *second;
    pthread_create(&one, 0, work, (void *)1);
    pthread_create(&two, 0, work, (void *)1);
    pthread_join(one, &first);
    pthread_join(two, &second);
    printf("%d used, %d in all\n", the_pool.used, (int)((long)first + (long)second));
    return the_pool.used;
}
