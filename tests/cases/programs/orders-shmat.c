#include "t.h"
#include <sys/ipc.h>
#include <sys/shm.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static int *one, *other;
T(A) { YES("one memory, two addresses"); int r = one[0]; one[0] = r + 1; END; LOCK; NO("locked"); int k = one[1]; one[1] = k + 1; END; UNLOCK; return 0; }
T(B) { other[0] = other[0] + 10; LOCK; other[1] += 10; UNLOCK; return 0; }
int main() { pthread_t a, b; int s = shmget(IPC_PRIVATE, 4096, 0600); one = shmat(s, 0, 0); other = shmat(s, 0, 0); shmctl(s, IPC_RMID, 0); GO(a, A, 0); GO(b, B, 0); JOIN(a); JOIN(b); printf("%d\n", one[1]); return 0; }
