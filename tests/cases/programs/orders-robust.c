#include "t.h"
static pthread_mutex_t m; static int x, seen; static sem_t locked;
T(A) { LOCK; x = 1; sem_post(&locked); return 0; }
T(B) { sem_wait(&locked); int r = LOCK; if (r == EOWNERDEAD) pthread_mutex_consistent(&m); NO("after its owner's end"); int k = x; x = k + 1; END; UNLOCK; YES("given back"); int j = seen; seen = j + 1; END; return 0; }
int main() { pthread_mutexattr_t at; pthread_mutexattr_init(&at); pthread_mutexattr_setrobust(&at, PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&m, &at); sem_init(&locked, 0, 0); pthread_t a, b; GO(a, A, 0); GO(b, B, 0); seen = 9; JOIN(a); JOIN(b); puts("end"); return 0; }
