// Changing the process's identity asks every thread, whoever waits for a turn meanwhile and ours as well.
#include "t.h"
#include <grp.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int guarded, plain;
T(work) {
    for (int i = 0; i < 2; i++) {
        LOCK; NO("below a lock"); guarded++; guarded++; END; UNLOCK;
        if (setgid(getgid()) || setuid(getuid())) abort();
        YES("without one"); plain++; END;
    }
    return 0;
}
int main() {
    pthread_t t[2];
    if (setgid(getgid())) abort();
    for (int i = 0; i < 2; i++) GO(t[i], work, i);
    if (setegid(getgid())) abort();
    for (int i = 0; i < 2; i++) JOIN(t[i]);
    printf("%d\n", guarded);
}
