// A binary heap under a rwlock, whose top is read before it is taken; a sum under a lock of its own that nothing depends on.
#include "shape.h"

static int hp[64], n;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t stat = PTHREAD_MUTEX_INITIALIZER;
static long looked;

static void push(int v) {
    pthread_rwlock_wrlock(&rw);
    int i = n++;
    hp[i] = v;
    while (i && hp[(i - 1) / 2] > hp[i]) {
        int t = hp[i];
        hp[i] = hp[(i - 1) / 2];
        hp[(i - 1) / 2] = t;
        i = (i - 1) / 2;
    }
    pthread_rwlock_unlock(&rw);
}

static int top() {
    pthread_rwlock_rdlock(&rw);
    int t = n ? hp[0] : -1;
    pthread_rwlock_unlock(&rw);
    pthread_mutex_lock(&stat);
    looked += t;
    pthread_mutex_unlock(&stat);
    return t;
}

static int pop() {
    pthread_rwlock_wrlock(&rw);
    if (!n) {
        pthread_rwlock_unlock(&rw);
        return -1;
    }
    int r = hp[0];
    hp[0] = hp[--n];
    int i = 0;
    for (;;) {
        int c = 2 * i + 1;
        if (c >= n) break;
        if (c + 1 < n && hp[c + 1] < hp[c]) c++;
        if (hp[i] <= hp[c]) break;
        int t = hp[i];
        hp[i] = hp[c];
        hp[c] = t;
        i = c;
    }
    pthread_rwlock_unlock(&rw);
    return r;
}

static int last;

static void *work(void *number) {
    int i = (int)(long)number;
    for (int k = 0; k < 15; k++) {
        push((k * 13 + i * 7) % 40);
        if (k % 2 && top() < 30) {
            int v = pop();
            if (v > last) last = v;
        }
    }
    return 0;
}

int main(void) {
    run(4, work);
    printf("%d\n", n);
    return 0;
}
