#include "t.h"
#include <fcntl.h>
#include <mqueue.h>
static int a, b, y; static mqd_t q;
T(W) { a = 5; mq_send(q, "x", 1, 0); b = 7; return 0; }
T(R) { char c[8]; mq_receive(q, c, 8, 0); NO("after mq_receive"); int r = a; y = r; r = a; END; YES("beside the sender"); int k = b; b = k + 1; END; return 0; }
int main() { pthread_t w, r; char name[32]; struct mq_attr at = {.mq_maxmsg = 4, .mq_msgsize = 8}; snprintf(name, 32, "/orders-mq-%010d", getpid()); q = mq_open(name, O_CREAT | O_RDWR, 0600, &at); mq_unlink(name); if (q < 0) return 3; GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
