/* wmemcpy, wmemmove, wmempcpy and wmemset read and write shared memory. */
#include "t.h"
#include <wchar.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static wchar_t locked[4], copied[4], moved[4], set[4], sum;
T(A) {
    wchar_t own[4];
    LOCK; NO("under the lock");
    wmemcpy(own, locked, 4); own[1]++; wmemmove(locked, own, 4); wmemset(locked + 2, own[1], 2);
    END; UNLOCK;
    YES("copied"); wmemcpy(own, copied, 4); own[1]++; wmempcpy(copied, own, 4); END;
    YES("moved"); wmemmove(own, moved, 4); own[2]++; wmemmove(moved, own, 4); END;
    YES("set"); wmemset(set, L'a' + (wchar_t)(intptr_t)arg, 4); sum = set[3]; END;
    return 0;
}
int main() {
    pthread_t a, b;
    GO(a, A, 0); GO(b, A, 1); JOIN(a); JOIN(b);
    puts(locked[1] == 2 && locked[3] == 2 ? "end" : "lost");
    return 0;
}
