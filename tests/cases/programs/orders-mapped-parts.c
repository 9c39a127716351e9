#include "t.h"
static char *one, *other; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
T(A) { int *p = (int *)(one + 4096); YES("parts that overlap"); int r = *p; *p = r + 1; END; int *q = (int *)one; NO("a part that only one has"); int k = *q; *q = k + 1; END; return 0; }
T(B) { int *p = (int *)other; *p = *p + 10; int *q = (int *)(other + 4096); *q = *q + 10; return 0; }
int main() { pthread_t a, b; int f = memfd_create("x", 0); ftruncate(f, 3 * 4096); one = mmap(0, 2 * 4096, 3, MAP_SHARED, f, 0); other = mmap(0, 2 * 4096, 3, MAP_SHARED, f, 4096); GO(a, A, 0); GO(b, B, 0); JOIN(a); JOIN(b); puts("end"); return 0; }
