/* A list and its size, changed in two critical sections. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct n {
    struct n *next;
};
static struct n *head;
static int size;
static pthread_mutex_t lh = PTHREAD_MUTEX_INITIALIZER, ls = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *x) {
    for (int i = 0; i < 2; i++) {
        struct n *k = malloc(sizeof *k);
        pthread_mutex_lock(&lh);
        k->next = head;
        head = k;
        pthread_mutex_unlock(&lh);
        pthread_mutex_lock(&ls);
        size++;
        pthread_mutex_unlock(&ls);
    }
    return x;
}

static void *walk(void *x) {
    int c = 0;
    pthread_mutex_lock(&lh);
    for (struct n *k = head; k; k = k->next)
        c++;
    pthread_mutex_lock(&ls);
    int s = size;
    pthread_mutex_unlock(&ls);
    pthread_mutex_unlock(&lh);
    if (s != c) {
        fprintf(stderr, "size %d count %d\n", s, c);
        abort();
    }
    return x;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&b, NULL, walk, 0);
    pthread_create(&a, NULL, add, 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
