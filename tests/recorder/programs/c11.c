// C11 threads and atomics; the output is the same in every schedule.
#include <stdatomic.h>
#include <stdio.h>
#include <threads.h>

static mtx_t mutex;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;
static thread_local int own = 3;
static int initialised, turn, total, spun, destroyed;
static atomic_int hits;
static _Atomic long wide;
static atomic_flag flag = ATOMIC_FLAG_INIT;

static void initialise(void) { initialised++; }

static void destroy(void *unused) {
    (void)unused;
    mtx_lock(&mutex);
    destroyed++;
    mtx_unlock(&mutex);
}

static int work(void *argument) {
    int number = *(int *)argument;
    call_once(&once, initialise);
    tss_set(key, argument);
    own += number;
    mtx_lock(&mutex);
    while (turn != number) cnd_wait(&changed, &mutex);
    turn++;
    total += own;
    cnd_broadcast(&changed);
    mtx_unlock(&mutex);
    atomic_fetch_add_explicit(&hits, 1, memory_order_relaxed);
    wide += 1000000000000L;
    while (atomic_flag_test_and_set(&flag)) thrd_yield();
    spun += 100; // under the flag, as total is under the mutex
    atomic_flag_clear(&flag);
    return number * 10;
}

int main(void) {
    thrd_t threads[3];
    int numbers[3], result, sum = 0;
    mtx_init(&mutex, mtx_plain);
    cnd_init(&changed);
    tss_create(&key, destroy);
    for (int i = 0; i < 3; i++) {
        numbers[i] = i;
        thrd_create(&threads[i], work, &numbers[i]);
    }
    for (int i = 0; i < 3; i++) {
        thrd_join(threads[i], &result);
        sum += result;
    }
    struct timespec soon;
    timespec_get(&soon, TIME_UTC);
    mtx_lock(&mutex);
    int timed = cnd_timedwait(&changed, &mutex, &soon) == thrd_timedout;
    mtx_unlock(&mutex);
    printf("%d %d %d %d %d %ld %d %d\n", initialised, turn, total + spun, sum, hits, (long)wide, destroyed, timed);
    return 3;
}
