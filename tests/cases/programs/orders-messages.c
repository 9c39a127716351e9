#include "t.h"
#include <sys/ipc.h>
#include <sys/msg.h>
static int a, b, y, q; struct message { long kind; char text[8]; };
T(W) { struct message m = {1, "x"}; a = 5; msgsnd(q, &m, 8, 0); b = 7; return 0; }
T(R) { struct message m; msgrcv(q, &m, 8, 1, 0); NO("after msgrcv"); int r = a; y = r; r = a; END; YES("beside the sender"); int k = b; b = k + 1; END; return 0; }
int main() { pthread_t w, r; q = msgget(IPC_PRIVATE, 0600); GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); msgctl(q, IPC_RMID, 0); puts("end"); return 0; }
