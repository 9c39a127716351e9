/* Mutexes of every type, try and timed locks, spin locks; a lock given back between two accesses. */
#include "t.h"
static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER, recursive, checking, adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_spinlock_t spin;
static int x, y, z, w, v, split;
static void *a(void *arg) {
    pthread_mutex_lock(&normal);
    x = x + 1;
    split = split + 1;
    pthread_mutex_unlock(&normal);
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    y = y + 1;
    pthread_mutex_unlock(&recursive);
    y = y + 1;
    pthread_mutex_unlock(&recursive);
    pthread_mutex_lock(&checking);
    if (pthread_mutex_lock(&checking) != EDEADLK) abort();
    z = z + 1;
    pthread_mutex_unlock(&checking);
    if (pthread_mutex_unlock(&checking) != EPERM) abort();
    pthread_mutex_lock(&adaptive);
    w = w + 1;
    pthread_mutex_unlock(&adaptive);
    pthread_spin_lock(&spin);
    v = v + 1;
    pthread_spin_unlock(&spin);
    return 0;
}
static void *b(void *arg) {
    while (pthread_mutex_trylock(&normal)) sched_yield();
    NO("a normal mutex");
    x = x + 1;
    END;
    pthread_mutex_unlock(&normal);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    if (pthread_mutex_timedlock(&recursive, &until)) abort();
    NO("a recursive mutex");
    y = y + 1;
    END;
    pthread_mutex_unlock(&recursive);
    pthread_mutex_lock(&checking);
    NO("an error-checking mutex");
    z = z + 1;
    END;
    pthread_mutex_unlock(&checking);
    pthread_mutex_lock(&adaptive);
    NO("an adaptive mutex");
    w = w + 1;
    END;
    pthread_mutex_unlock(&adaptive);
    while (pthread_spin_trylock(&spin)) sched_yield();
    NO("a spin lock");
    v = v + 1;
    END;
    pthread_spin_unlock(&spin);
    YES("given back in between");
    pthread_mutex_lock(&normal);
    int r = split;
    pthread_mutex_unlock(&normal);
    pthread_mutex_lock(&normal);
    split = r + 1;
    pthread_mutex_unlock(&normal);
    END;
    return 0;
}
int main(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &kind);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_t first, second;
    GO(first, a, 0);
    GO(second, b, 0);
    JOIN(first);
    JOIN(second);
    printf("%d\n", x);
}
