#include "t.h"
#include <sys/eventfd.h>
static int a, x, f;
T(A) { uint64_t n = 1; read(f, &n, 8); NO("one token"); int r = a; a = r + 1; END; write(f, &n, 8); YES("without a token"); int k = x; x = k + 1; END; return 0; }
int main() { pthread_t p, q; f = eventfd(1, EFD_SEMAPHORE); GO(p, A, 0); GO(q, A, 0); JOIN(p); JOIN(q); puts("end"); return 0; }
