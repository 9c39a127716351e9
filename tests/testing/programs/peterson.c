/* Peterson's lock, with its two first steps in the wrong order: both threads may be inside. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int wants[2], turn;
static int inside;

static void *work(void *number)
{
    int own = number != NULL, other = !own;
    for (int round = 0; round < 2; round++) {
        turn = other;
        wants[own] = 1;
        while (wants[other] && turn == other)
            sched_yield();
        inside++;
        if (inside != 1) {
            fprintf(stderr, "error: both are inside\n");
            abort();
        }
        inside--;
        wants[own] = 0;
    }
    return NULL;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&other, NULL, work, &turn);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
