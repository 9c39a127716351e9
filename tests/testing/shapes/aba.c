/* A stack without locks whose head comes back while another thread holds the old one. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int v;
    struct node *next;
};
static struct node nodes[3];
static _Atomic(struct node *) top;
static atomic_int out[3];

static void push(struct node *n) {
    struct node *o;
    do {
        o = top;
        n->next = o;
    } while (!atomic_compare_exchange_strong(&top, &o, n));
}

static struct node *pop(void) {
    struct node *o, *n;
    do {
        o = top;
        if (!o)
            return 0;
        n = o->next;
    } while (!atomic_compare_exchange_strong(&top, &o, n));
    return o;
}

static void *one(void *x) {
    struct node *n = pop();
    if (n && atomic_fetch_add(&out[n->v], 1))
        abort();
    return x;
}

static void *two(void *x) {
    struct node *a = pop();
    struct node *b = pop();
    if (b && atomic_fetch_add(&out[b->v], 1))
        abort();
    if (a)
        push(a);
    struct node *c = pop();
    if (c && atomic_fetch_add(&out[c->v], 1))
        abort();
    c = pop();
    if (c && atomic_fetch_add(&out[c->v], 1))
        abort();
    return x;
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        nodes[i].v = i;
        push(&nodes[i]);
    }
    pthread_t a, b;
    pthread_create(&a, NULL, one, 0);
    pthread_create(&b, NULL, two, 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
