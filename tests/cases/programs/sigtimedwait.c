#include "t.h"
// Waits for a signal that end at a limit: a replay takes another time, and each wait ends there as it did.
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int jobs, seen, quiet, bare; static sigset_t set;
T(A) {
    struct timespec limit = {0, 1500000};
    for (int signals = 0; signals < 2;) {
        if (sigtimedwait(&set, 0, &limit) < 0) { LOCK; quiet++; UNLOCK; continue; }
        signals++;
        NO("after the signal"); seen = jobs; seen += jobs; END;
        YES("beside the sender"); bare = 1; bare += 1; END;
    }
    return 0;
}
int main() {
    pthread_t t;
    sigemptyset(&set); sigaddset(&set, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    GO(t, A, 0);
    jobs = 1;
    usleep(4000);
    pthread_kill(t, SIGRTMIN);
    usleep(500);
    pthread_kill(t, SIGRTMIN);
    bare = 5;
    JOIN(t);
    printf("%d\n", seen);
    return 0;
}
