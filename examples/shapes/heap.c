// A binary heap under one lock; the largest value that came out is kept without it.
#include "shape.h"

static int hp[64], n;

static void push(int v) {
    pthread_mutex_lock(&lock);
    int i = n++;
    hp[i] = v;
    while (i && hp[(i - 1) / 2] > hp[i]) {
        int t = hp[i];
        hp[i] = hp[(i - 1) / 2];
        hp[(i - 1) / 2] = t;
        i = (i - 1) / 2;
    }
    pthread_mutex_unlock(&lock);
}

static int pop() {
    pthread_mutex_lock(&lock);
    if (!n) {
        pthread_mutex_unlock(&lock);
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
    pthread_mutex_unlock(&lock);
    return r;
}

static int last;

static void *work(void *number) {
    int i = (int)(long)number;
    for (int k = 0; k < 15; k++) {
        push((k * 13 + i * 7) % 40);
        if (k % 2) {
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
