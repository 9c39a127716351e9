/* <threads.h> and <stdatomic.h>: each kind of mtx_t, cnd_t, tss_t; fences, flags, compare-and-swap. */
#include "t.h"
#include <stdatomic.h>
#include <threads.h>
static mtx_t plain, recursive, timed;
static cnd_t changed;
static tss_t key;
static once_flag once = ONCE_FLAG_INIT;
static int x, y, z, ready, made, closed, published, loose;
static atomic_int go, count;
static atomic_flag spin = ATOMIC_FLAG_INIT;
static void make(void) { made = 1; made = 2; tss_create(&key, free); }
static int a(void *arg) {
    call_once(&once, make);
    mtx_lock(&plain);
    x = x + 1;
    ready = 1;
    cnd_signal(&changed);
    mtx_unlock(&plain);
    mtx_lock(&recursive);
    mtx_lock(&recursive);
    y = y + 1;
    mtx_unlock(&recursive);
    y = y + 1;
    mtx_unlock(&recursive);
    while (atomic_flag_test_and_set(&spin)) thrd_yield();
    z = z + 1;
    atomic_flag_clear(&spin);
    published = 1;
    published = 2;
    atomic_store(&go, 1);
    atomic_fetch_add(&count, 1);
    loose = loose + 1;
    return 4;
}
static int b(void *arg) {
    call_once(&once, make);
    NO("after call_once");
    int r = made;
    r += made;
    END;
    tss_set(key, malloc(8));
    mtx_lock(&plain);
    while (!ready) cnd_wait(&changed, &plain);
    NO("mtx_plain");
    x = x + 1;
    END;
    mtx_unlock(&plain);
    struct timespec until;
    timespec_get(&until, TIME_UTC);
    until.tv_sec += 10;
    mtx_lock(&recursive);
    NO("mtx_recursive");
    y = y + 1;
    END;
    mtx_unlock(&recursive);
    if (mtx_timedlock(&timed, &until) == thrd_success) mtx_unlock(&timed);
    while (atomic_flag_test_and_set(&spin)) thrd_yield();
    NO("a spin lock of an atomic_flag");
    z = z + 1;
    END;
    atomic_flag_clear(&spin);
    while (!atomic_load(&go)) thrd_yield();
    NO("after the flag");
    r += published;
    r += published;
    END;
    YES("load and store of an atomic");
    int seen = atomic_load(&count);
    atomic_store(&count, seen + 1);
    END;
    YES("no lock at all");
    loose = loose + 1;
    END;
    return r;
}
int main(void) {
    mtx_init(&plain, mtx_plain);
    mtx_init(&recursive, mtx_plain | mtx_recursive);
    mtx_init(&timed, mtx_timed);
    cnd_init(&changed);
    thrd_t first, second;
    int one, two;
    thrd_create(&first, a, 0);
    thrd_create(&second, b, 0);
    thrd_join(first, &one);
    thrd_join(second, &two);
    printf("%d %d\n", one, two);
}
