/* The handler of a signal ends a wait for a semaphore: the program goes another way then, in a replay too. */
#include "t.h"
static sem_t s, t; static int a, b, y, ended; static pthread_t r;
static void handler(int n) { if (n == SIGUSR2) sem_post(&s); }
T(W) { pthread_kill(r, SIGUSR1); a = 5; sem_post(&s); pthread_kill(r, SIGUSR2); int j = b; b = j + 2; return 0; }
T(R) { while (sem_wait(&s) < 0) ended++; NO("after the post"); int k = a; y = k; k = a; END; YES("beside"); int j = b; b = j + 1; END;
 struct timespec at; clock_gettime(CLOCK_REALTIME, &at); at.tv_sec += 9; while (sem_timedwait(&s, &at) < 0) ended++; if (ended > 2) abort(); return 0; }
int main() { pthread_t w; struct sigaction x = {.sa_handler = handler}; sigaction(SIGUSR1, &x, 0); sigaction(SIGUSR2, &x, 0); sem_init(&s, 0, 0); GO(r, R, 0); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
