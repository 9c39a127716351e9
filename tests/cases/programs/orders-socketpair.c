#include "t.h"
#include <poll.h>
#include <sys/socket.h>
static int a, b, y, s[2];
T(W) { a = 5; send(s[1], "x", 1, 0); b = 7; return 0; }
T(R) { struct pollfd q = {s[0], POLLIN, 0}; poll(&q, 1, -1); NO("after poll of a socket"); int r = a; y = r; r = a; END; YES("beside the sender"); int k = b; b = k + 1; END; return 0; }
int main() { pthread_t w, r; socketpair(AF_UNIX, SOCK_STREAM, 0, s); GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
