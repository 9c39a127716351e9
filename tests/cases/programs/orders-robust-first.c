/* Whoever takes a robust mutex before its owner ends gets no EOWNERDEAD: that is another path of the program, and not impossible. */
#include "t.h"
static pthread_mutex_t m; static int x, y;
static int look(int is_last) { if (LOCK == EOWNERDEAD) pthread_mutex_consistent(&m); if (is_last) { NEVER("within the lock"); int j = x; x = j + 1; END; } int seen = y; UNLOCK; return seen; }
T(A) { LOCK; x = x + 1; y = 1; return 0; }
T(B) { OPEN("around its owner"); int before = look(0); int after = look(1); END; return (void *)(intptr_t)(before > after); }
int main() { pthread_mutexattr_t at; pthread_mutexattr_init(&at); pthread_mutexattr_setrobust(&at, PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&m, &at); pthread_t a, b; GO(a, A, 0); GO(b, B, 0); JOIN(a); JOIN(b); printf("%d\n", x); return 0; }
