// A list of the least recently used under one lock; the hits are counted without it.
#include "shape.h"

struct n {
    int k, v;
    struct n *p, *q;
};
static struct n pool[8];
static struct n *first;
static int hits;

static void touch(struct n *x) {
    if (x == first) return;
    x->p->q = x->q;
    if (x->q) x->q->p = x->p;
    x->q = first;
    first->p = x;
    x->p = 0;
    first = x;
}

static int get(int k) {
    pthread_mutex_lock(&lock);
    for (struct n *x = first; x; x = x->q)
        if (x->k == k) {
            touch(x);
            int v = x->v;
            pthread_mutex_unlock(&lock);
            return v;
        }
    pthread_mutex_unlock(&lock);
    return -1;
}

static void put(int k) {
    pthread_mutex_lock(&lock);
    struct n *x = first;
    while (x->q) x = x->q;
    x->k = k;
    x->v = k * 2;
    touch(x);
    pthread_mutex_unlock(&lock);
}

static void *work(void *p) {
    long i = (long)p;
    for (int k = 0; k < 25; k++) {
        int key = (k * k + i) % 12;
        if (get(key) < 0)
            put(key);
        else
            hits++;
    }
    return 0;
}

int main(void) {
    for (int i = 0; i < 8; i++) {
        pool[i].k = -1 - i;
        pool[i].p = i ? &pool[i - 1] : 0;
        pool[i].q = i < 7 ? &pool[i + 1] : 0;
    }
    first = pool;
    run(4, work);
    printf("%d\n", hits >= 0);
    return 0;
}
