// Tokens with a futex. A thread that does not get the token that it saw waits as long as the word has the value that it saw: a token that comes
// meanwhile wakes nobody. The right twin waits only where there was none.
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int tokens = 2;

static void take(void) {
    for (;;) {
        int seen = atomic_load(&tokens);
        int expected = seen;
        if (seen > 0 && atomic_compare_exchange_strong(&tokens, &expected, seen - 1)) {
            return;
        }
#ifdef RIGHT
        if (seen > 0) {
            continue;
        }
#endif
        syscall(SYS_futex, &tokens, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    }
}

static void give(void) {
    if (atomic_fetch_add(&tokens, 1) == 0) {
        syscall(SYS_futex, &tokens, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

static void *user(void *unused) {
    take();
    give();
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, user, NULL);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%d tokens\n", atomic_load(&tokens));
    return 0;
}
