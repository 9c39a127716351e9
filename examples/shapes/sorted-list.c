// A sorted list under one lock, with a check and an act on it in two sections.
#include "shape.h"

struct n {
    int k;
    struct n *next;
};
static struct n *head;

static void ins(int k) {
    struct n *x = malloc(sizeof *x);
    x->k = k;
    pthread_mutex_lock(&lock);
    struct n **p = &head;
    while (*p && (*p)->k < k) p = &(*p)->next;
    x->next = *p;
    *p = x;
    pthread_mutex_unlock(&lock);
}

static int has(int k) {
    pthread_mutex_lock(&lock);
    struct n *p = head;
    while (p && p->k < k) p = p->next;
    int r = p && p->k == k;
    pthread_mutex_unlock(&lock);
    return r;
}

static void del(int k) {
    pthread_mutex_lock(&lock);
    struct n **p = &head;
    while (*p && (*p)->k < k) p = &(*p)->next;
    if (*p && (*p)->k == k) {
        struct n *d = *p;
        *p = d->next;
        free(d);
    }
    pthread_mutex_unlock(&lock);
}

static void *work(void *number) {
    long i = (long)number;
    for (int k = 0; k < 20; k++) {
        int key = (k * 7 + i) % 23;
        if (!has(key)) ins(key);
        if (k % 3 == 0) del((key + 5) % 23);
    }
    return 0;
}

int main(void) {
    run(4, work);
    int c = 0;
    for (struct n *p = head; p; p = p->next) c++;
    printf("%d\n", c > 0);
    return 0;
}
