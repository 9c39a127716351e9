/* The handler of a signal ends a read of a pipe into several parts. */
#include "t.h"
#include <sys/uio.h>
static int e[2], a, b, y, ended; static pthread_t r;
static void handler(int n) { int k = errno; if (n == SIGUSR2) write(e[1], "x", 1); errno = k; }
T(W) { pthread_kill(r, SIGUSR1); a = 5; write(e[1], "y", 1); pthread_kill(r, SIGUSR2); int j = b; b = j + 2; return 0; }
T(R) { char c; struct iovec v = {&c, 1}; while (readv(e[0], &v, 1) < 0) ended++; NO("after what was sent"); int k = a; y = k; k = a; END; YES("beside"); int j = b; b = j + 1; END;
 while (readv(e[0], &v, 1) < 0) ended++; return 0; }
int main() { pthread_t w; struct sigaction x = {.sa_handler = handler}; sigaction(SIGUSR1, &x, 0); sigaction(SIGUSR2, &x, 0); pipe(e); GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
