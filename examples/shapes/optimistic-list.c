// A sorted list that is searched without locks; two nodes are locked to change it, and checked again.
#include "shape.h"

struct n {
    int k;
    _Atomic(struct n *) nx;
    atomic_int dead;
    pthread_mutex_t l;
};
static struct n h, t;

static int add(int k) {
    for (int r = 0; r < 5; r++) {
        struct n *p = &h, *c = atomic_load(&p->nx);
        while (c->k < k) {
            p = c;
            c = atomic_load(&c->nx);
        }
        pthread_mutex_lock(&p->l);
        pthread_mutex_lock(&c->l);
        int ok = !p->dead && !c->dead && atomic_load(&p->nx) == c;
        if (ok && c->k != k) {
            struct n *x = malloc(sizeof *x);
            x->k = k;
            x->dead = 0;
            pthread_mutex_init(&x->l, 0);
            atomic_store(&x->nx, c);
            atomic_store(&p->nx, x);
        }
        pthread_mutex_unlock(&c->l);
        pthread_mutex_unlock(&p->l);
        if (ok) return 1;
    }
    return 0;
}

static int del(int k) {
    for (int r = 0; r < 5; r++) {
        struct n *p = &h, *c = atomic_load(&p->nx);
        while (c->k < k) {
            p = c;
            c = atomic_load(&c->nx);
        }
        if (c->k != k) return 0;
        pthread_mutex_lock(&p->l);
        pthread_mutex_lock(&c->l);
        int ok = !p->dead && !c->dead && atomic_load(&p->nx) == c;
        if (ok) {
            c->dead = 1;
            atomic_store(&p->nx, atomic_load(&c->nx));
        }
        pthread_mutex_unlock(&c->l);
        pthread_mutex_unlock(&p->l);
        if (ok) return 1;
    }
    return 0;
}

static void *work(void *number) {
    int i = (int)(long)number;
    for (int k = 0; k < 15; k++) {
        add((k * 5 + i) % 17);
        if (k & 1) del((k * 3 + i) % 17);
    }
    return 0;
}

int main(void) {
    h.k = -1;
    t.k = 1000;
    pthread_mutex_init(&h.l, 0);
    pthread_mutex_init(&t.l, 0);
    atomic_store(&h.nx, &t);
    run(4, work);
    int c = 0;
    for (struct n *x = h.nx; x != &t; x = x->nx) c++;
    printf("%d\n", c > 0);
    return 0;
}
