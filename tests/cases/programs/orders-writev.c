#include "t.h"
#include <sys/uio.h>
static int a, b, y, p[2];
T(W) { char x = 'x', z = 'z'; struct iovec v[2] = {{&x, 1}, {&z, 1}}; a = 5; writev(p[1], v, 2); b = 7; return 0; }
T(R) { char c, d; struct iovec v[2] = {{&c, 1}, {&d, 1}}; readv(p[0], v, 2); NO("after readv"); int r = a; y = r; r = a; END; YES("beside the writer"); int k = b; b = k + 1; END; return 0; }
int main() { pthread_t w, r; pipe(p); GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
