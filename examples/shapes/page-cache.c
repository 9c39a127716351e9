// Pages that are pinned under a lock, and written without it while they are.
#include "shape.h"

struct pg {
    int id, pin, dirty, data;
};
static struct pg p[6];
static int clockhand, evict;

static struct pg *pin(int id) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 6; i++)
        if (p[i].id == id) {
            p[i].pin++;
            pthread_mutex_unlock(&lock);
            return &p[i];
        }
    for (int t = 0; t < 12; t++) {
        struct pg *x = &p[clockhand];
        clockhand = (clockhand + 1) % 6;
        if (!x->pin) {
            if (x->dirty) evict++;
            x->id = id;
            x->dirty = 0;
            x->pin = 1;
            x->data = id * 10;
            pthread_mutex_unlock(&lock);
            return x;
        }
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

static void unpin(struct pg *x, int d) {
    pthread_mutex_lock(&lock);
    x->pin--;
    x->dirty |= d;
    pthread_mutex_unlock(&lock);
}

static void *work(void *number) {
    int i = (int)(long)number;
    for (int k = 0; k < 20; k++) {
        struct pg *x = pin((k * 3 + i * 2) % 9 + 1);
        if (x) {
            int v = x->data;
            x->data = v + 1;
            unpin(x, 1);
        }
    }
    return 0;
}

int main(void) {
    run(4, work);
    printf("%d\n", evict >= 0);
    return 0;
}
