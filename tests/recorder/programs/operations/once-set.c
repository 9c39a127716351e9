// A set of one key. Adding asks in one critical section whether the key is there, and puts it there in another. In a run in which one thread
// comes after the other, the second add does not get as far as to put it there. With RIGHT, an add does both in one.
#include <foretrace.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int present;

static int add(void) {
    FORETRACE_CALL(&present, "add", 7);
    pthread_mutex_lock(&lock);
    int added = !present;
#ifndef RIGHT
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    if (added)
        present = 1;
    pthread_mutex_unlock(&lock);
    FORETRACE_RETURN(&present, "add", added);
    return added;
}

static void *work(void *result) {
    *(int *)result = add();
    return result;
}

int main(void) {
    pthread_t threads[2];
    int added[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, &added[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    printf("%d\n", added[0] + added[1]);
    return 0;
}
