// A reader takes a session out of a table under the lock and uses it without; another thread closes the session. The right twin keeps the
// lock over the use.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct session {
    int hits;
    int owner;
};

static struct session *table[4];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *reader(void *unused) {
    for (int turn = 0; turn < 3; turn++) {
        pthread_mutex_lock(&lock);
        struct session *session = table[1];
#ifndef RIGHT
        pthread_mutex_unlock(&lock);
#endif
        int owner = session ? session->owner : 0;
#ifndef RIGHT
        pthread_mutex_lock(&lock);
#endif
        total += owner;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *closer(void *unused) {
    pthread_mutex_lock(&lock);
    struct session *session = table[1];
    table[1] = NULL;
    pthread_mutex_unlock(&lock);
    free(session);
    return unused;
}

int main(void) {
    table[1] = calloc(1, sizeof *table[1]);
    table[1]->owner = 7;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, closer, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%s\n", total >= 0 ? "done" : "wrong");
    return 0;
}
