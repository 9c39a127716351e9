// A queue with room for one item, each operation marked. A dequeue looks whether there is an item in one critical section and takes it in
// another, so that two of them can take the same one. With RIGHT, it does both in one.
#include <foretrace.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int item;
static int full;

static void enqueue(int value) {
    FORETRACE_CALL(&item, "enqueue", value);
    pthread_mutex_lock(&lock);
    item = value;
    full = 1;
    pthread_mutex_unlock(&lock);
    FORETRACE_RETURN(&item, "enqueue");
}

static int dequeue(void) {
    FORETRACE_CALL(&item, "dequeue");
    pthread_mutex_lock(&lock);
    if (!full) {
        pthread_mutex_unlock(&lock);
        FORETRACE_RETURN(&item, "dequeue");
        return 0;
    }
#ifndef RIGHT
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    int value = item;
    full = 0;
    pthread_mutex_unlock(&lock);
    FORETRACE_RETURN(&item, "dequeue", value);
    return value;
}

static void *one(void *got) {
    *(int *)got = dequeue();
    enqueue(2);
    return got;
}

static void *two(void *got) {
    *(int *)got = dequeue();
    return got;
}

int main(void) {
    pthread_t a, b;
    int first = 0, second = 0;
    enqueue(1);
    pthread_create(&a, 0, one, &first);
    pthread_create(&b, 0, two, &second);
    pthread_join(a, 0);
    pthread_join(b, 0);
    printf("%d %d\n", first, second);
    return first == second;
}
