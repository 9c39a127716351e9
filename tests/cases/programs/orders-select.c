#include "t.h"
#include <sys/select.h>
static int a, b, y, p[2];
T(W) { a = 5; write(p[1], "x", 1); b = 7; return 0; }
T(R) { fd_set s; FD_ZERO(&s); FD_SET(p[0], &s); select(p[0] + 1, &s, 0, 0, 0); NO("after select"); int r = a; y = r; r = a; END; YES("beside the writer"); int k = b; b = k + 1; END; return 0; }
int main() { pthread_t w, r; pipe(p); GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
