#include "t.h"
// A lock that a thread takes on some ways only does not protect what it does on all of them.
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int guarded = 1, config, careful, x[9];

static void enter(void) { if (guarded) LOCK; }
static void leave(int held) { if (held) UNLOCK; }

T(W) {
    int held = guarded;
    if (held) LOCK;
    OPEN("under a lock that is not always taken"); x[0]++; END;
    if (held) UNLOCK;

    held = guarded;
    enter();
    OPEN("the same by functions"); x[1]++; END;
    leave(held);

    LOCK;
    NEVER("under a lock"); x[2]++; END;
    UNLOCK;

    if (guarded) { LOCK; NEVER("all of it under the same condition"); x[3]++; END; UNLOCK; }

    if (config) LOCK;
    NEVER("under a lock that is always taken: nobody changes the condition"); x[4]++; END;
    if (config) UNLOCK;

    LOCK;
    if (guarded) { UNLOCK; sched_yield(); LOCK; }
    NEVER("held on either way"); x[5]++; END;
    UNLOCK;

    for (int turn = 0; turn <= guarded; turn++) {
        LOCK;
        NEVER("in turns of a loop"); x[6]++; END;
        UNLOCK;
    }

    LOCK;
    while (!careful) { UNLOCK; sched_yield(); LOCK; }
    NEVER("after waiting in a loop"); x[7]++; END;
    UNLOCK;
    return 0;
}

T(H) { x[8]++; return 0; }

int main(int argc, char **argv) {
    pthread_t a, b, c;
    config = argc;
    GO(c, H, 0); GO(a, W, 0); GO(b, W, 0);
    LOCK; guarded = argc; careful = 1; UNLOCK;
    int waits = guarded;
    if (waits) JOIN(c);
    OPEN("after a join that is not always there"); x[8]++; END;
    if (!waits) JOIN(c);
    JOIN(a); JOIN(b);
    NEVER("after a join"); x[2]++; END;
    (void)argv;
    return 0;
}
