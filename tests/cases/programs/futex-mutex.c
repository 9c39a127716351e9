// Drepper's second mutex, by the system call.
#include "t.h"
#include <stdatomic.h>
#include <linux/futex.h>
#include <sys/syscall.h>
static atomic_int word; static int right, wrong;
static void take(atomic_int *w) {
    int seen = 0;
    if (atomic_compare_exchange_strong(w, &seen, 1)) return;
    do {
        int one = 1;
        if (seen == 2 || atomic_compare_exchange_strong(w, &one, 2) || one != 0) syscall(SYS_futex, w, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
        seen = 0;
    } while (!atomic_compare_exchange_strong(w, &seen, 2));
}
static void give(atomic_int *w) {
    if (atomic_fetch_sub(w, 1) != 1) { atomic_store(w, 0); syscall(SYS_futex, w, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }
}
T(work) {
    for (int k = 0; k < 2; k++) {
        take(&word); NO("held"); right++; END; give(&word);
        YES("not held"); wrong++; END;
    }
    return NULL;
}
int main(void) {
    pthread_t t[2]; GO(t[0], work, 0); GO(t[1], work, 1); JOIN(t[0]); JOIN(t[1]);
    printf("%d\n", right);
}
