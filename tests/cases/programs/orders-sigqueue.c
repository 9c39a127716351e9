#include "t.h"
static int a, b, y;
T(W) { union sigval v = {.sival_int = 1}; a = 5; sigqueue(getpid(), SIGRTMIN, v); b = 7; return 0; }
T(R) { sigset_t s; siginfo_t i; sigemptyset(&s); sigaddset(&s, SIGRTMIN); sigwaitinfo(&s, &i); NO("after sigwaitinfo"); int k = a; y = k; k = a; END; YES("beside the sender"); int j = b; b = j + 1; END; return 0; }
int main() { pthread_t w, r; sigset_t s; sigemptyset(&s); sigaddset(&s, SIGRTMIN); pthread_sigmask(SIG_BLOCK, &s, 0); GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
