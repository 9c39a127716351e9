// Threads add up the numbers that come by the input. Without -DRIGHT an update of the sum is lost.
#include <pthread.h>
#include <stdio.h>

static int numbers[8], count, sum, wanted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *part) {
    for (int i = (int)(long)part; i < count; i += 2) {
#ifdef RIGHT
        pthread_mutex_lock(&lock);
#endif
        sum += numbers[i];
#ifdef RIGHT
        pthread_mutex_unlock(&lock);
#endif
    }
    return 0;
}

int main(void) {
    while (count < 8 && scanf("%d", &numbers[count]) == 1) wanted += numbers[count++];
    pthread_t first, second;
    pthread_create(&first, 0, add, (void *)0);
    pthread_create(&second, 0, add, (void *)1);
    pthread_join(first, 0);
    pthread_join(second, 0);
    printf("%d of %d\n", sum, wanted);
    return sum != wanted;
}
