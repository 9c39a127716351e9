#include "t.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
// Messages come out in the order in which they went in: whoever takes the second one comes after whoever took the first.
enum { PIPE, SOCKET, OPEN_FILE, KINDS };
static int from[KINDS], x[KINDS], taken[KINDS], sum, wake;
static volatile int seen;
static pthread_mutex_t m[KINDS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static int get(int kind) { pthread_mutex_lock(&m[kind]); int v = x[kind]; pthread_mutex_unlock(&m[kind]); return v; }

T(First) {
    int v;
    for (int kind = 0; kind < KINDS; kind++) {
        NO("before the first message is taken"); sum += get(kind) != get(kind); END;
        if (read(from[kind], &v, sizeof v) != sizeof v) abort();
        taken[kind] = v;
    }
    return 0;
}

T(Second) {
    int v;
    for (int kind = 0; kind < KINDS; kind++) {
        if (read(from[kind], &v, sizeof v) != sizeof v) abort();
        if (v == 2) { pthread_mutex_lock(&m[kind]); x[kind] = 1; pthread_mutex_unlock(&m[kind]); }
    }
    return 0;
}

T(Waker) { seen = 1; uint64_t one = 1; return (void *)write(wake, &one, sizeof one); }
T(Other) { uint64_t one = 1; return (void *)write(wake, &one, sizeof one); }
T(Woken) {
    uint64_t count;
    if (read(wake, &count, sizeof count) != sizeof count) abort();
    OPEN("after either of two"); int k = seen != seen; END;
    return (void *)(intptr_t)k;
}

static void fill(int to) {
    for (int v = 1; v <= 2; v++) if (write(to, &v, sizeof v) != sizeof v) abort();
}

int main() {
    int pair[2];
    char name[] = "messages-XXXXXX";
    pipe(pair); from[PIPE] = pair[0]; fill(pair[1]);
    if (write(pair[1], 0, 0) != 0) abort(); // no message
    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair); from[SOCKET] = pair[0]; fill(pair[1]);
    int file = mkstemp(name); fill(file); lseek(file, 0, SEEK_SET); from[OPEN_FILE] = file; unlink(name);
    wake = eventfd(0, 0);
    pthread_t a, b, c, d, e;
    GO(a, First, 0); GO(b, Second, 0); JOIN(a); JOIN(b);
    GO(c, Woken, 0); GO(d, Waker, 0); GO(e, Other, 0); JOIN(c); JOIN(d); JOIN(e);
    return 0;
}
