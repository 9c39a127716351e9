#include "t.h"
#include <fcntl.h>
#include <mqueue.h>
// A queue with room for one message: who sends the second one comes after who received the first.
static int first, bare, y; static mqd_t q;
T(R) {
    char c[8]; struct timespec t = {0, 0};
    clock_gettime(CLOCK_REALTIME, &t); t.tv_sec += 20;
    first = 5;
    mq_receive(q, c, 8, 0);
    bare = 7;
    mq_timedreceive(q, c, 8, 0, &t);
    return 0;
}
int main() {
    pthread_t r; char name[40]; struct mq_attr at = {.mq_maxmsg = 1, .mq_msgsize = 8};
    snprintf(name, 40, "/orders-mq-room-%010d", getpid());
    q = mq_open(name, O_CREAT | O_RDWR, 0600, &at); mq_unlink(name);
    if (q < 0) return 3;
    GO(r, R, 0);
    mq_send(q, "x", 1, 0);
    mq_send(q, "y", 1, 0);
    NO("after there was room"); int k = first; y = k; k = first; END;
    YES("beside the receiver"); k = bare; bare = k + 1; END;
    JOIN(r);
    puts("end");
    return 0;
}
