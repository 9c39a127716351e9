// A table with a lock for every fourth bucket; a value is read and written back in two sections.
#include "shape.h"

struct e {
    int k, v;
    struct e *n;
};
static struct e *tab[16];
static pthread_mutex_t bl[4];
static int size;

static struct e *find(int k) {
    for (struct e *p = tab[k & 15]; p; p = p->n)
        if (p->k == k) return p;
    return 0;
}

static void add(int k, int d) {
    pthread_mutex_lock(&bl[k & 3]);
    struct e *p = find(k);
    int v = p ? p->v : 0;
    pthread_mutex_unlock(&bl[k & 3]);
    pthread_mutex_lock(&bl[k & 3]);
    p = find(k);
    if (p)
        p->v = v + d;
    else {
        p = malloc(sizeof *p);
        p->k = k;
        p->v = d;
        p->n = tab[k & 15];
        tab[k & 15] = p;
        size++;
    }
    pthread_mutex_unlock(&bl[k & 3]);
}

static void *work(void *number) {
    long i = (long)number;
    for (int k = 0; k < 60; k++) add((k * 13 + i * 5) % 29, 1);
    return 0;
}

int main(void) {
    for (int i = 0; i < 4; i++) pthread_mutex_init(&bl[i], 0);
    run(6, work);
    printf("%d\n", size);
    return 0;
}
