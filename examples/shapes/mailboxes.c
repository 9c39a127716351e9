// Four threads send each other messages, each with a box of its own.
#include "shape.h"

struct box {
    pthread_mutex_t m;
    pthread_cond_t c;
    int q[8];
    int n;
};
static struct box b[4];
static int delivered;

static void send(int to, int v) {
    pthread_mutex_lock(&b[to].m);
    if (b[to].n < 8) b[to].q[b[to].n++] = v;
    pthread_cond_signal(&b[to].c);
    pthread_mutex_unlock(&b[to].m);
}

static int recv1(int me) {
    pthread_mutex_lock(&b[me].m);
    while (!b[me].n) pthread_cond_wait(&b[me].c, &b[me].m);
    int v = b[me].q[0];
    for (int i = 1; i < b[me].n; i++) b[me].q[i - 1] = b[me].q[i];
    b[me].n--;
    pthread_mutex_unlock(&b[me].m);
    return v;
}

static void *work(void *number) {
    int i = (int)(long)number;
    for (int k = 0; k < 12; k++) {
        send((i + 1) % 4, k * 4 + i);
        int v = recv1(i);
        if (v >= 0) delivered++;
    }
    return 0;
}

int main(void) {
    for (int i = 0; i < 4; i++) {
        pthread_mutex_init(&b[i].m, 0);
        pthread_cond_init(&b[i].c, 0);
    }
    run(4, work);
    printf("%d\n", delivered);
    return 0;
}
