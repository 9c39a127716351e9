#include "t.h"
#include <fcntl.h>
#include <sys/file.h>
static int a, x; static char path[64] = "/tmp/orders-flock-XXXXXX";
T(A) { int f = open(path, O_RDWR); flock(f, LOCK_EX); NO("within flock"); int r = a; a = r + 1; END; flock(f, LOCK_UN); YES("without it"); int k = x; x = k + 1; END; close(f); return 0; }
int main() { pthread_t p, q; close(mkstemp(path)); GO(p, A, 0); GO(q, A, 0); JOIN(p); JOIN(q); unlink(path); puts("end"); return 0; }
