// Two owners of a buffer; the last one to give it up frees it. The right twin reads the size before it gives the buffer up.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct buffer {
    atomic_int owners;
    int size;
    int data[8];
};

static atomic_int seen;

static void give_up(struct buffer *buffer) {
    if (atomic_fetch_sub(&buffer->owners, 1) == 1)
        free(buffer);
}

static void *worker(void *argument) {
    struct buffer *buffer = argument;
#ifdef RIGHT
    int size = buffer->size;
    give_up(buffer);
#else
    give_up(buffer);
    int size = buffer->size;
#endif
    atomic_fetch_add(&seen, size);
    return NULL;
}

int main(void) {
    struct buffer *buffer = calloc(1, sizeof *buffer);
    buffer->size = 8;
    buffer->owners = 2;
    pthread_t thread;
    pthread_create(&thread, NULL, worker, buffer);
    int size = buffer->size;
    give_up(buffer);
    pthread_join(thread, NULL);
    printf("%d\n", size);
    return 0;
}
