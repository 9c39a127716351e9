/* Two threads take a node each. Each frees its node at once, which the other one may be about to look into; with RIGHT main frees them in the
   end. Who looks into a node that the other one takes does not get it: its swap fails. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

static _Atomic(struct node *) top;
static atomic_int sum;

static struct node *pop(void) {
    struct node *node = top;
    while (!atomic_compare_exchange_strong(&top, &node, node->next))
        ;
    return node;
}

static void *take(void *taken) {
    struct node *node = pop();
    sum += node->value;
#ifdef RIGHT
    *(struct node **)taken = node;
#else
    free(node);
    (void)taken;
#endif
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    struct node *taken[2] = {NULL, NULL};
    for (int value = 1; value <= 2; value++) {
        struct node *node = malloc(sizeof *node);
        *node = (struct node){top, value};
        top = node;
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, take, &taken[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        free(taken[i]);
    return sum != 3;
}
