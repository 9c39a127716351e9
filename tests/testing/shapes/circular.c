/* A ring whose count and slots are changed apart. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char buf[8];
static unsigned first, next;
static int size;
static int sending = 1, recv_;

static void ins(int v) {
    assert(size < 8);
    buf[next] = v;
    next = (next + 1) % 8;
    size++;
}

static int rem(void) {
    if (next == first || size == 0)
        return -1;
    int v = buf[first];
    first = (first + 1) % 8;
    size--;
    return v;
}

static void *t1(void *x) {
    for (int i = 0; i < 6; i++) {
        pthread_mutex_lock(&m);
        if (sending) {
            ins(i);
            recv_ = 1;
            sending = 0;
        }
        pthread_mutex_unlock(&m);
    }
    return x;
}

static void *t2(void *x) {
    for (int i = 0; i < 6; i++) {
        pthread_mutex_lock(&m);
        if (recv_) {
            int v = rem();
            if (v != i) {
                fprintf(stderr, "got %d for %d\n", v, i);
                exit(1);
            }
            sending = 1;
            recv_ = 0;
        }
        pthread_mutex_unlock(&m);
    }
    return x;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, t1, 0);
    pthread_create(&b, NULL, t2, 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
