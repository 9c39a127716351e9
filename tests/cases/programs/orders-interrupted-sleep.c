/* The handler of a signal ends a sleep, and signals of one number that wait together arrive as one. */
#include "t.h"
static int a, b, y, ended, cut; static pthread_t r; static volatile sig_atomic_t got;
static void handler(int n) { got++; }
T(W) { usleep(3000); a = 5; pthread_kill(r, SIGUSR1); int j = b; b = j + 2; pthread_kill(r, SIGUSR1); return 0; }
T(R) { struct timespec t = {0, 20000000}, l; while (!got) { if (nanosleep(&t, &l) < 0) ended++; } NO("after the handler"); int k = a; y = k; k = a; END; YES("beside"); int j = b; b = j + 1; END;
 if (ended) y++; if (usleep(9000) < 0) cut++; if (cut) y++; return 0; }
int main() { pthread_t w; struct sigaction x = {.sa_handler = handler}; sigaction(SIGUSR1, &x, 0); GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
