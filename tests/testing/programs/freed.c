/* A configuration is replaced and the old one freed. A reader that still uses it mostly finds what it held before: nothing fails. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct config {
    char name[32];
    int limit;
};
static _Atomic(struct config *) current;
static atomic_int readers;

static struct config *made(int limit) {
    struct config *config = calloc(1, sizeof *config);
    config->limit = limit;
    return config;
}

static void *read_it(void *unused) {
#ifdef RIGHT
    atomic_fetch_add(&readers, 1);
#endif
    int limit = atomic_load(&current)->limit;
#ifdef RIGHT
    atomic_fetch_sub(&readers, 1);
#endif
    if (limit != 1 && limit != 2) {
        fprintf(stderr, "an impossible limit\n");
        exit(1);
    }
    return unused;
}

int main(void) {
    pthread_t reader;
    atomic_store(&current, made(1));
    pthread_create(&reader, 0, read_it, 0);
    struct config *old = atomic_exchange(&current, made(2));
    while (atomic_load(&readers)) {}
    free(old);
    pthread_join(reader, 0);
    free(atomic_load(&current));
    puts("done");
    return 0;
}
