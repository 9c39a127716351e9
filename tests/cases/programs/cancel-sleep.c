#include "t.h"
// Threads that are cancelled while they sleep between two rounds: a replay keeps each at the sleep in which the recording cancelled it.
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int rounds[2], inside, bare;
static void left(void *unused) {
    (void)unused;
    YES("beside the other's end"); int k = bare; bare = k + 1; END;
    LOCK; NO("under the lock"); inside--; END; UNLOCK;
}
T(R) {
    for (;;) {
        LOCK; rounds[(intptr_t)arg]++; inside++; UNLOCK;
        pthread_cleanup_push(left, 0);
        usleep(300);
        pthread_cleanup_pop(1);
    }
    return 0;
}
int main() {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) GO(t[i], R, i);
    for (int i = 0, done = 0; !done; i = 1) { if (i) usleep(200); LOCK; done = rounds[0] > 1 && rounds[1] > 1; UNLOCK; }
    for (int i = 0; i < 2; i++) pthread_cancel(t[i]);
    for (int i = 0; i < 2; i++) { JOIN(t[i]); }
    printf("%d\n", inside);
    return 0;
}
