// A compare-and-swap between two stores finds 0. With EXPECTED 0 it succeeds there and fails in all other runs; with 3 it always fails.
#include <foretrace.h>
#include <pthread.h>

#if defined WIDE
typedef struct {
    long low, high;
} word;
#define WORD(number) ((word){7, number})
#elif defined SPLIT
typedef union {
    long whole;
    int halves[2];
} word;
#define WORD(number) (7 | (long)(number) << 32)
#else
typedef int word;
#define WORD(number) (number)
#endif

#ifdef SPLIT
static word shared = {7 | 1L << 32};
#define PLACE ((_Atomic long *)&shared.whole)
#else
static _Atomic word shared = WORD(1);
#define PLACE (&shared)
#endif

static void *store_twice(void *unused) {
    FORETRACE_ATOMIC_BEGIN("two stores");
#ifdef SPLIT
    __atomic_store_n(&shared.halves[1], 0, __ATOMIC_RELAXED);
    __atomic_store_n(&shared.halves[1], 5, __ATOMIC_RELAXED);
#else
    __c11_atomic_store(PLACE, WORD(0), __ATOMIC_RELAXED);
    __c11_atomic_store(PLACE, WORD(5), __ATOMIC_RELAXED);
#endif
    FORETRACE_ATOMIC_END("two stores");
    return unused;
}

static void *swap(void *unused) {
#ifdef SPLIT
    long expected = WORD(EXPECTED), desired = WORD(9);
#else
    word expected = WORD(EXPECTED), desired = WORD(9);
#endif
    __c11_atomic_compare_exchange_strong(PLACE, &expected, desired, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return unused;
}

int main(void) {
    pthread_t storing, swapping;
    pthread_create(&storing, 0, store_twice, 0);
    pthread_create(&swapping, 0, swap, 0);
    pthread_join(storing, 0);
    pthread_join(swapping, 0);
    return 0;
}
