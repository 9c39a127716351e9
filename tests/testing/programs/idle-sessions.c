// A client notes in a session when it was used, after it has given the lock of the table back; a janitor may have freed the session by then. The
// right twin notes it under the lock.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct session {
    struct session *next;
    int number;
    int last_used;
    int hits;
};

static struct session *sessions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int now;

static void touch(int number) {
    pthread_mutex_lock(&lock);
    struct session *found = sessions;
    while (found && found->number != number) {
        found = found->next;
    }
#ifndef RIGHT
    pthread_mutex_unlock(&lock);
#endif
    if (found) {
        found->last_used = now;
        found->hits++;
    }
#ifdef RIGHT
    pthread_mutex_unlock(&lock);
#endif
}

static void *client(void *number) {
    touch((int)(long)number);
    touch((int)(long)number);
    return NULL;
}

static void *janitor(void *unused) {
    for (int turn = 0; turn < 3; turn++) {
        pthread_mutex_lock(&lock);
        now++;
        struct session **from = &sessions;
        while (*from) {
            struct session *session = *from;
            if (now - session->last_used > 1) {
                *from = session->next;
                free(session);
            } else {
                from = &session->next;
            }
        }
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    for (int number = 0; number < 3; number++) {
        struct session *session = calloc(1, sizeof *session);
        session->number = number;
        session->next = sessions;
        sessions = session;
    }
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, client, (void *)0);
    pthread_create(&threads[1], NULL, client, (void *)1);
    pthread_create(&threads[2], NULL, janitor, NULL);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    puts("done");
    return 0;
}
