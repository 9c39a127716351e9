#include "t.h"
#include <fcntl.h>
static int a, x, z; static char path[64] = "/tmp/orders-ofd-XXXXXX", second[64] = "/tmp/orders-set-XXXXXX";
static void lock(int f, int command, int kind) { struct flock l = {.l_type = kind, .l_whence = SEEK_SET}; fcntl(f, command, &l); }
T(A) { int f = open(path, O_RDWR), g = open(second, O_RDWR); lock(f, F_OFD_SETLKW, F_WRLCK); NO("within the open file's lock"); int r = a; a = r + 1; END; lock(f, F_OFD_SETLKW, F_UNLCK);
 lock(g, F_SETLKW, F_WRLCK); YES("the process's lock keeps no thread out"); int k = x; x = k + 1; END; lock(g, F_SETLKW, F_UNLCK); close(f); close(g); return 0; }
int main() { pthread_t p, q; close(mkstemp(path)); close(mkstemp(second)); GO(p, A, 0); GO(q, A, 0); JOIN(p); JOIN(q); unlink(path); unlink(second); puts("end"); return 0; }
