// An account has a lock of its own. A user that found it in the table may come to that lock after the account is freed. The right twin counts
// users, and the last one frees it.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct account {
    long id;
    int users;
    int closed;
    pthread_mutex_t lock;
};

static struct account *account;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static int served;

static void *user(void *unused) {
    pthread_mutex_lock(&table);
    struct account *found = account;
#ifdef RIGHT
    if (found)
        found->users++;
#endif
    pthread_mutex_unlock(&table);
    if (!found)
        return unused;
    pthread_mutex_lock(&found->lock);
    served++;
    pthread_mutex_unlock(&found->lock);
#ifdef RIGHT
    pthread_mutex_lock(&table);
    int last = --found->users == 0 && found->closed;
    pthread_mutex_unlock(&table);
    if (last)
        free(found);
#endif
    return unused;
}

static void *closer(void *unused) {
    pthread_mutex_lock(&table);
    struct account *found = account;
    account = NULL;
#ifdef RIGHT
    found->closed = 1;
    int last = found->users == 0;
#else
    int last = 1;
#endif
    pthread_mutex_unlock(&table);
    if (last)
        free(found);
    return unused;
}

int main(void) {
    account = calloc(1, sizeof *account);
    pthread_mutex_init(&account->lock, NULL);
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, user, NULL);
    pthread_create(&threads[1], NULL, user, NULL);
    pthread_create(&threads[2], NULL, closer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%s\n", served >= 0 ? "served" : "lost");
    return 0;
}
