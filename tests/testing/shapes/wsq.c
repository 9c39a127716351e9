/* A work-stealing queue after the THE protocol. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define N 8
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int head, tail;
static int q[N];
static atomic_int taken[N];

static void take(int v) {
    if (atomic_fetch_add(&taken[v], 1)) {
        fprintf(stderr, "taken twice: %d\n", v);
        abort();
    }
}

static int steal(int *v) {
    pthread_mutex_lock(&m);
    int h = head;
    head = h + 1;
    if (h < tail) {
        *v = q[h % N];
        pthread_mutex_unlock(&m);
        return 1;
    }
    head = h;
    pthread_mutex_unlock(&m);
    return 0;
}

static int pop(int *v) {
    int t = tail - 1;
    tail = t;
    if (head <= t) {
        *v = q[t % N];
        return 1;
    }
    tail = t + 1;
    pthread_mutex_lock(&m);
    if (head <= t) {
        tail = t;
        *v = q[t % N];
        pthread_mutex_unlock(&m);
        return 1;
    }
    pthread_mutex_unlock(&m);
    return 0;
}

static void push(int v) {
    int t = tail;
    q[t % N] = v;
    tail = t + 1;
}

static void *owner(void *x) {
    int v;
    push(0);
    push(1);
    if (pop(&v))
        take(v);
    push(2);
    if (pop(&v))
        take(v);
    if (pop(&v))
        take(v);
    return x;
}

static void *thief(void *x) {
    int v;
    for (int i = 0; i < 2; i++)
        if (steal(&v))
            take(v);
    return x;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, owner, 0);
    pthread_create(&b, NULL, thief, 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
