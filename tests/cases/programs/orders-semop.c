#include "t.h"
#include <sys/ipc.h>
#include <sys/sem.h>
static int a, x, s;
static void by(int n) { struct sembuf o = {0, n, 0}; semop(s, &o, 1); }
T(A) { by(-1); NO("within the semaphore"); int r = a; a = r + 1; END; by(1); YES("without it"); int k = x; x = k + 1; END; return 0; }
int main() { pthread_t p, q; s = semget(IPC_PRIVATE, 1, 0600); by(1); GO(p, A, 0); GO(q, A, 0); JOIN(p); JOIN(q); semctl(s, 0, IPC_RMID); puts("end"); return 0; }
