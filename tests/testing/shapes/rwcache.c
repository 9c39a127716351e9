/* A cache that is read under a shared lock and filled under another. */
#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int keys[8], n;

static int find(int k) {
    pthread_rwlock_rdlock(&l);
    int r = -1;
    for (int i = 0; i < n; i++)
        if (keys[i] == k)
            r = i;
    pthread_rwlock_unlock(&l);
    return r;
}

static void add(int k) {
    pthread_rwlock_wrlock(&l);
    keys[n++] = k;
    pthread_rwlock_unlock(&l);
}

static void *w(void *x) {
    for (int k = 0; k < 3; k++)
        if (find(k) < 0)
            add(k);
    return x;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, w, 0);
    pthread_create(&b, NULL, w, 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (n != 3) {
        fprintf(stderr, "%d keys\n", n);
        return 1;
    }
    return 0;
}
