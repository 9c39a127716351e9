/* A read of a pipe that does not wait takes as many messages as there are. */
#include "t.h"
#include <fcntl.h>
#include <poll.h>
static int e[2], a, b, y;
T(W) { a = 5; write(e[1], "x", 1); a = 6; write(e[1], "y", 1); int j = b; b = j + 2; return 0; }
T(R) { struct pollfd p = {e[0], POLLIN, 0}; char c[8]; poll(&p, 1, -1); y = a; long n = read(e[0], c, 8); while (n < 2) { long m = read(e[0], c, 8); n += m > 0 ? m : 0; } NO("after both messages"); int k = a; y = k; k = a; END; YES("beside"); int j = b; b = j + 1; END; return 0; }
int main() { pthread_t w, r; pipe2(e, O_NONBLOCK); GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
