#include "t.h"
static int a, b, y, p[2];
T(W) { a = 5; write(p[1], "x", 1); b = 7; return 0; }
T(R) { char c; read(p[0], &c, 1); NO("after the read"); int r = a; y = r; r = a; END; YES("beside the writer"); int k = b; b = k + 1; END; return 0; }
int main() { pthread_t w, r; pipe(p); GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
