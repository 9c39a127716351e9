#include "t.h"
#include <sys/signalfd.h>
static int a, b, y, f; static pthread_t r;
T(W) { a = 5; pthread_kill(r, SIGUSR1); b = 7; return 0; }
T(R) { struct signalfd_siginfo i; read(f, &i, sizeof i); NO("after the signal was read"); int k = a; y = k; k = a; END; YES("beside the sender"); int j = b; b = j + 1; END; return 0; }
int main() { pthread_t w; sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); pthread_sigmask(SIG_BLOCK, &s, 0); f = signalfd(-1, &s, 0); GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
