/* Two threads announce themselves and enter if the other one has not. Each looks before it announces itself if HASTY is 1: then both may
   be inside, after two interruptions. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int wants[2], inside;

static void *enter(void *number)
{
    intptr_t own = (intptr_t)number, other = 1 - own;
    int is_free;
    if (HASTY)
        is_free = !wants[other], wants[own] = 1;
    else
        wants[own] = 1, is_free = !wants[other];
    if (is_free) {
        if (++inside != 1) {
            fprintf(stderr, "error: both are inside\n");
            exit(3);
        }
        --inside;
    }
    return NULL;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, enter, (void *)0);
    pthread_create(&other, NULL, enter, (void *)1);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
