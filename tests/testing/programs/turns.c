/* Peterson's lock for one round of two threads, which wait in a loop. If RIGHT is 0 its two first steps are in the wrong order, and both
   may be inside. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int wants[2], turn;
static int inside;

static void *work(void *number)
{
    intptr_t own = (intptr_t)number, other = 1 - own;
    if (RIGHT)
        wants[own] = 1, turn = other;
    else
        turn = other, wants[own] = 1;
    while (wants[other] && turn == other)
        ;
    if (++inside != 1) {
        fprintf(stderr, "error: both are inside\n");
        abort();
    }
    inside--;
    wants[own] = 0;
    return NULL;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, work, (void *)0);
    pthread_create(&other, NULL, work, (void *)1);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
