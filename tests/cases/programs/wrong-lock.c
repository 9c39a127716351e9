/* The same accesses under two mutexes, a mutex and a spin lock, a read lock: they exclude nothing. */
#include "t.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static int x, y, z;
static void *a(void *arg) {
    pthread_mutex_lock(&m);
    x = x + 1;
    y = y + 1;
    pthread_mutex_unlock(&m);
    pthread_rwlock_rdlock(&rw);
    z = z + 1;
    pthread_rwlock_unlock(&rw);
    return 0;
}
static void *b(void *arg) {
    pthread_mutex_lock(&n);
    YES("another mutex");
    x = x + 1;
    END;
    pthread_mutex_unlock(&n);
    pthread_spin_lock(&spin);
    YES("a spin lock against a mutex");
    y = y + 1;
    END;
    pthread_spin_unlock(&spin);
    pthread_rwlock_rdlock(&rw);
    YES("both only share");
    z = z + 1;
    END;
    pthread_rwlock_unlock(&rw);
    return 0;
}
int main(void) {
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_t first, second;
    GO(first, a, 0);
    GO(second, b, 0);
    JOIN(first);
    JOIN(second);
    printf("done\n");
}
