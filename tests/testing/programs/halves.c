/* A thread writes two halves at once, under a lock. Another reads one half in two critical sections and relies on both. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static volatile union {
    uint64_t both;
    uint32_t half[2];
} pair;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *set(void *unused)
{
    pthread_mutex_lock(&lock);
    pair.both = (uint64_t)7 << 32 | 9;
    pthread_mutex_unlock(&lock);
    return unused;
}

static uint32_t upper(void)
{
    pthread_mutex_lock(&lock);
    uint32_t half = pair.half[1];
    pthread_mutex_unlock(&lock);
    return half;
}

static void *look(void *torn)
{
    uint32_t before = upper();
    uint32_t after = upper();
    if (before != after)
        *(int *)torn = 1;
    return torn;
}

int main(void)
{
    int torn = 0;
    pthread_t setting, looking;
    pthread_create(&setting, NULL, set, NULL);
    pthread_create(&looking, NULL, look, &torn);
    pthread_join(setting, NULL);
    pthread_join(looking, NULL);
    if (torn)
        fprintf(stderr, "error: two halves\n");
    return torn;
}
