/* Two signals may wait for one thread at a time, and the kernel gives the later one first: neither is lost, and a replay has them in order. */
#include "t.h"
#include <poll.h>
static int ends[2], a, b, y; static pthread_t r;
static void handler(int s) { int e = errno; if (s == SIGUSR2) write(ends[1], "", 1); errno = e; }
T(W) { pthread_kill(r, SIGUSR1); a = 5; char c = 1; write(ends[1], &c, 1); pthread_kill(r, SIGUSR2); int j = b; b = j + 2; return 0; }
T(R) { char c; int ended = 0; for (;;) { struct pollfd p = {ends[0], POLLIN, 0}; int n = poll(&p, 1, 9000); if (n == 1) break; ended += errno == EINTR; }
 while (read(ends[0], &c, 1) < 0) ended++; NO("after what was written"); int k = a; y = k; k = a; END; YES("beside the writer"); int j = b; b = j + 1; END;
 while (read(ends[0], &c, 1) < 0) ended++; return 0; }
int main() { pthread_t w; struct sigaction s = {.sa_handler = handler}; sigaction(SIGUSR1, &s, 0); sigaction(SIGUSR2, &s, 0); pipe(ends); GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
