// Union-find with path compression, whose reads take no lock.
#include "shape.h"

static int par[32];
static int merges;

static int find(int x) {
    while (par[x] != x) {
        par[x] = par[par[x]];
        x = par[x];
    }
    return x;
}

static void *work(void *number) {
    int i = (int)(long)number;
    for (int k = 0; k < 12; k++) {
        int x = find((k * 7 + i * 3) % 32), y = find((k * 11 + i) % 32);
        if (x != y) {
            pthread_mutex_lock(&lock);
            par[x] = y;
            merges++;
            pthread_mutex_unlock(&lock);
        }
    }
    return 0;
}

int main(void) {
    for (int i = 0; i < 32; i++) par[i] = i;
    run(4, work);
    printf("%d\n", merges);
    return 0;
}
