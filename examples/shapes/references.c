// Counted references to an object that is exchanged under a lock.
#include "shape.h"

struct o {
    atomic_int rc;
    int v;
};
static struct o *cur;
static pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static struct o *get() {
    pthread_mutex_lock(&l);
    struct o *p = cur;
    atomic_fetch_add(&p->rc, 1);
    pthread_mutex_unlock(&l);
    return p;
}

static void put(struct o *p) {
    if (atomic_fetch_sub(&p->rc, 1) == 1) free(p);
}

static void *work(void *number) {
    long i = (long)number;
    for (int k = 0; k < 25; k++) {
        if (i == 0 && k % 5 == 0) {
            struct o *n = malloc(sizeof *n);
            n->v = k;
            atomic_init(&n->rc, 1);
            pthread_mutex_lock(&l);
            struct o *old = cur;
            cur = n;
            pthread_mutex_unlock(&l);
            put(old);
        } else {
            struct o *p = get();
            sum += p->v;
            put(p);
        }
    }
    return 0;
}

int main(void) {
    cur = malloc(sizeof *cur);
    cur->v = 1;
    atomic_init(&cur->rc, 1);
    run(4, work);
    printf("%d\n", sum > 0);
    return 0;
}
