// The stack of stack.c without marks. With RIGHT, the item is taken in one step.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

struct stack {
    atomic_int items[8];
    atomic_int range;
};

static struct stack shared;

void stack_push(struct stack *stack, int value) {
    int at = atomic_fetch_add(&stack->range, 1);
    atomic_store(&stack->items[at], value);
}

bool stack_pop(struct stack *stack, int *value) {
    for (int at = atomic_load(&stack->range) - 1; at >= 0; at--) {
#ifdef RIGHT
        int item = atomic_exchange(&stack->items[at], 0);
#else
        int item = atomic_load(&stack->items[at]);
        atomic_store(&stack->items[at], 0);
#endif
        if (item) {
            *value = item;
            return true;
        }
    }
    return false;
}

static void *use(void *value) {
    int taken;
    stack_push(&shared, (int)(long)value);
    stack_pop(&shared, &taken);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, use, (void *)1);
    pthread_create(&b, 0, use, (void *)2);
    pthread_join(a, 0);
    pthread_join(b, 0);
    puts("done");
    return 0;
}
