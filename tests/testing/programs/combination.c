/* Two threads turn a dial: one writes zeros and one writes ones, each turn under the lock. Only one order of their turns opens the safe.
   With PRINTS that is no failure, and only printed: 2 prints the dial, too, which varies. */
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
#ifdef PRINTS
    printf("the safe is %s\n", dial == OPENS ? "open" : "shut");
    if (PRINTS == 2)
        printf("%s %d\n", dial % 2 ? "odd" : "even", dial);
    return 0;
#endif
    if (dial == OPENS) {
        fprintf(stderr, "error: the safe is open\n");
        return 1;
    }
    return 0;
}
