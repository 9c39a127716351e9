/* A limit that is checked before it is counted. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int used;
static atomic_int most;

static void *w(void *x) {
    for (int i = 0; i < 3; i++) {
        if (atomic_load(&used) < 2) {
            int u = atomic_fetch_add(&used, 1) + 1;
            int s = most;
            while (u > s && !atomic_compare_exchange_weak(&most, &s, u))
                ;
            atomic_fetch_sub(&used, 1);
        }
    }
    return x;
}

int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, w, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    if (most > 2) {
        fprintf(stderr, "most %d\n", most);
        return 1;
    }
    return 0;
}
