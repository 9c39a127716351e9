/* A condition that other processes might share, in memory of this process alone: its waits are as all others. */
#include "t.h"
static pthread_mutex_t m; static pthread_cond_t c; static int n, got, taken, given;
T(P) { for (int i = 0; i < 4; i++) { LOCK; n++; pthread_cond_signal(&c); UNLOCK; YES("given"); int g = given; given = g + 1; END; } return 0; }
T(C) { for (int i = 0; i < 2; i++) { LOCK; while (!n) pthread_cond_wait(&c, &m); n--; NO("after the wait"); int g = got; got = g + 1; END; UNLOCK;
 YES("taken"); int t = taken; taken = t + 1; int k = given; given = k + 1; END; } return 0; }
int main() { pthread_t p, q, r; pthread_mutexattr_t ma; pthread_mutexattr_init(&ma); pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED); pthread_mutex_init(&m, &ma);
 pthread_condattr_t ca; pthread_condattr_init(&ca); pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED); pthread_cond_init(&c, &ca);
 GO(p, P, 0); GO(q, C, 0); GO(r, C, 0); JOIN(p); JOIN(q); JOIN(r); printf("%d\n", got); return 0; }
