#include "t.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER; static int a, b, y, go; static pthread_t r; static sem_t ready, handled;
static void handler(int s) { NO("in the handler of a thread that waits"); int k = a; y = k; k = a; END; YES("beside the sender"); int j = b; b = j + 1; END; sem_post(&handled); }
T(R) { LOCK; sem_post(&ready); while (!go) pthread_cond_wait(&c, &m); UNLOCK; return 0; }
int main() { struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_RESTART}; sigaction(SIGUSR1, &sa, 0); sem_init(&ready, 0, 0); sem_init(&handled, 0, 0); GO(r, R, 0); sem_wait(&ready); LOCK; UNLOCK;
 a = 5; pthread_kill(r, SIGUSR1); b = 7; while (sem_wait(&handled)); LOCK; go = 1; pthread_cond_signal(&c); UNLOCK; JOIN(r); puts("end"); return 0; }
