/* The handler of a signal ends a wait for another signal. */
#include "t.h"
static int a, b, y, ended; static pthread_t r;
static void handler(int n) { ended++; }
T(W) { pthread_kill(r, SIGUSR1); a = 5; pthread_kill(r, SIGUSR2); int j = b; b = j + 2; return 0; }
T(R) { sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR2); siginfo_t i; int cut = 0; struct timespec t = {9, 0}; while (sigtimedwait(&s, &i, &t) < 0) cut++; NO("after the signal"); int k = a; y = k; k = a; END; YES("beside"); int j = b; b = j + 1; END;
 if (cut) y++; return 0; }
int main() { pthread_t w; struct sigaction x = {.sa_handler = handler}; sigaction(SIGUSR1, &x, 0); sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR2); pthread_sigmask(SIG_BLOCK, &s, 0); GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
