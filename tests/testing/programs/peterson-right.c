/* Peterson's lock, each thread of which waits in a loop: no schedule may take its loops for the program's end. */
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
        wants[own] = 1;
        turn = other;
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
