/* Handlers of signals end the wait for a connection, and for what comes over it. */
#include "t.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
static int l, a, b, y, ended; static pthread_t r; static struct sockaddr_in at;
static void handler(int n) { (void)n; }
T(W) { pthread_kill(r, SIGUSR1); a = 5; int c = socket(AF_INET, SOCK_STREAM, 0); if (connect(c, (void *)&at, sizeof at)) abort(); pthread_kill(r, SIGUSR2); char x = 3; send(c, &x, 1, 0); int j = b; b = j + 2; close(c); return 0; }
T(R) { int c; char x; while ((c = accept(l, 0, 0)) < 0) ended++; NO("after the connection"); int k = a; y = k; k = a; END; YES("beside"); int j = b; b = j + 1; END;
 while (recv(c, &x, 1, 0) < 0) ended++; if (ended) y++; close(c); return 0; }
int main() { pthread_t w; struct sigaction s = {.sa_handler = handler}; sigaction(SIGUSR1, &s, 0); sigaction(SIGUSR2, &s, 0); l = socket(AF_INET, SOCK_STREAM, 0); at.sin_family = AF_INET; at.sin_addr.s_addr = htonl(INADDR_LOOPBACK); socklen_t n = sizeof at; if (bind(l, (void *)&at, n) || getsockname(l, (void *)&at, &n) || listen(l, 4)) abort(); GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
