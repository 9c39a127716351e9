#include "t.h"
// Two threads wait for the bytes of one pipe: who gets a byte is the schedule's choice.
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int locked, bare, p[2];
T(R) {
    char c;
    while (read(p[0], &c, 1) == 1) {
        LOCK; NO("under the lock"); locked = locked + c; END; UNLOCK;
        YES("beside the other reader"); int k = bare; bare = k + c; END;
    }
    return 0;
}
int main() {
    pthread_t a, b;
    pipe(p);
    GO(a, R, 0); GO(b, R, 0);
    for (char c = 1; c <= 4; c++) write(p[1], &c, 1);
    close(p[1]);
    JOIN(a); JOIN(b);
    printf("%d\n", locked);
    return 0;
}
