/* A queue that is freed while another thread still takes from it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct q {
    pthread_mutex_t m;
    int n;
};
static struct q *queue;
static int *volatile left;

static void *cons(void *x) {
    for (;;) {
        struct q *k = queue;
        if (!k) {
            fprintf(stderr, "queue is gone\n");
            abort();
        }
        pthread_mutex_lock(&k->m);
        int n = k->n;
        if (n > 0)
            k->n--;
        pthread_mutex_unlock(&k->m);
        if (n <= 1)
            break;
    }
    return x;
}

static void *watch(void *x) {
    struct q *k = queue;
    pthread_mutex_lock(&k->m);
    int n = k->n;
    pthread_mutex_unlock(&k->m);
    if (n == 0)
        queue = NULL;
    return x;
}

int main(void) {
    queue = calloc(1, sizeof *queue);
    pthread_mutex_init(&queue->m, 0);
    queue->n = 3;
    pthread_t a, b, c;
    pthread_create(&a, NULL, cons, 0);
    pthread_create(&b, NULL, cons, 0);
    pthread_create(&c, NULL, watch, 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
