/* What is done after an initialiser's end, or by hand in place of pthread_once, is not covered. */
#include "t.h"
#include <stdatomic.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int started;
static int made, by_hand, used;
static void make(void) { made = 1; made = 2; }
static void *a(void *arg) {
    pthread_once(&once, make);
    YES("changed by those who passed");
    used = used + 1;
    END;
    NO("made once");
    int r = made;
    r += made;
    END;
    if (!atomic_exchange(&started, 1)) {
        by_hand = 1;
        by_hand = 2;
    }
    YES("an exchange does not wait");
    r += by_hand;
    r += by_hand;
    END;
    return 0;
}
int main(void) {
    pthread_t first, second;
    GO(first, a, 0);
    GO(second, a, 0);
    JOIN(first);
    JOIN(second);
    printf("%d\n", made);
}
