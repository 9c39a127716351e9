/* A list with head, tail and size: the size is counted in a critical section of its own. */
#include "../programs/t.h"
struct node { struct node *next; int value; };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct node one, *head, *tail;
static int size, found, counted;
static void push(struct node *node) {
    YES("push");
    LOCK; head = node; tail = node;
#ifndef RIGHT
    UNLOCK; LOCK;
#endif
    size = size + 1; UNLOCK;
    END;
}
T(producer) { push(&one); return 0; }
T(consumer) { LOCK; found = head != 0; counted = size; UNLOCK; return 0; }
int main(void) { pthread_t a, b; GO(a, producer, 0); GO(b, consumer, 0); JOIN(a); JOIN(b); return found != counted; }
