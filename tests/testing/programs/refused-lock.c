// A member of a chat is freed while another thread is about to take its lock, which then refuses the call. The RIGHT program holds the lock
// of the list meanwhile.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct member {
    char name[16];
    pthread_mutex_t lock;
    int mail;
};

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static struct member *last;

static void *talk(void *unused) {
    pthread_mutex_lock(&list);
    struct member *member = last;
#ifndef RIGHT
    pthread_mutex_unlock(&list);
#endif
    if (member) {
        if (pthread_mutex_lock(&member->lock) != 0) {
            fprintf(stderr, "no lock\n");
            exit(1);
        }
        member->mail++;
        pthread_mutex_unlock(&member->lock);
    }
#ifdef RIGHT
    pthread_mutex_unlock(&list);
#endif
    return unused;
}

static void *leave(void *unused) {
    pthread_mutex_lock(&list);
    struct member *member = last;
    last = NULL;
    pthread_mutex_unlock(&list);
    free(member);
    return unused;
}

int main(void) {
    last = calloc(1, sizeof *last);
    pthread_mutex_init(&last->lock, NULL);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, talk, NULL);
    pthread_create(&threads[1], NULL, leave, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
