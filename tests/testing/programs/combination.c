/* Two threads turn a dial: one writes zeros and one writes ones, each turn under the lock. Only one order of their turns opens the safe. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int dial = 1;

static void *turn(void *digit) {
    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&lock);
        dial = dial * 2 + (digit != 0);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t zeros, ones;
    pthread_create(&zeros, 0, turn, 0);
    pthread_create(&ones, 0, turn, &lock);
    pthread_join(zeros, 0);
    pthread_join(ones, 0);
    if (dial == OPENS) {
        fprintf(stderr, "error: the safe is open\n");
        return 1;
    }
    return 0;
}
