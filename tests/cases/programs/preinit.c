// Code runs before the C library is ready, as that of sanitizers does: it allocates, and sets a handler. All of main is recorded.
#include "t.h"
static int plain, guarded;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *early_memory;
static void handler(int signal) { (void)signal; }
static void early(void) {
    early_memory = malloc(24);
    signal(SIGUSR2, handler);
    free(malloc(8));
}
__attribute__((section(".preinit_array"), used)) static void (*const start)(void) = early;
T(work) {
    YES("without a lock");
    plain = plain + 1;
    END;
    LOCK;
    NO("below a lock");
    guarded = guarded + 1;
    END;
    UNLOCK;
    return arg;
}
int main(void) {
    pthread_t a, b;
    GO(a, work, 0);
    GO(b, work, 0);
    JOIN(a);
    JOIN(b);
    free(early_memory);
    printf("%d\n", guarded);
}
