/* Semaphores, barriers, condition variables and rwlocks of POSIX: what they order and what not. */
#include "t.h"
static sem_t items, other;
static pthread_barrier_t meet;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static int posted, after_post, first_round, ready, signalled, written, upgraded;
static void *a(void *arg) {
    posted = 1;
    posted = 2;
    sem_post(&items);
    after_post = 1;
    after_post = 2;
    first_round = 1;
    first_round = 2;
    pthread_barrier_wait(&meet);
    signalled = 1;
    signalled = 2;
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&m);
    pthread_rwlock_wrlock(&rw);
    written = written + 1;
    upgraded = upgraded + 1;
    pthread_rwlock_unlock(&rw);
    return 0;
}
static void *b(void *arg) {
    while (sem_trywait(&other) == 0) {}
    sem_wait(&items);
    NO("after sem_wait");
    int r = posted;
    r += posted;
    END;
    YES("written after sem_post");
    r += after_post;
    r += after_post;
    END;
    pthread_barrier_wait(&meet);
    NO("after the barrier");
    r += first_round;
    r += first_round;
    END;
    YES("written after the barrier");
    r += signalled;
    r += signalled;
    END;
    pthread_mutex_lock(&m);
    while (!ready) pthread_cond_wait(&changed, &m);
    pthread_mutex_unlock(&m);
    NO("after the condition");
    r += signalled;
    r += signalled;
    END;
    pthread_rwlock_rdlock(&rw);
    NO("shared against a writer");
    r += written;
    r += written;
    END;
    pthread_rwlock_unlock(&rw);
    YES("a read lock given back for a write lock");
    pthread_rwlock_rdlock(&rw);
    int old = upgraded;
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_wrlock(&rw);
    upgraded = old + 1;
    pthread_rwlock_unlock(&rw);
    END;
    return 0;
}
int main(void) {
    sem_init(&items, 0, 0);
    sem_init(&other, 0, 1);
    pthread_barrier_init(&meet, 0, 2);
    pthread_t first, second;
    GO(first, a, 0);
    GO(second, b, 0);
    JOIN(first);
    JOIN(second);
    printf("%d\n", ready);
}
