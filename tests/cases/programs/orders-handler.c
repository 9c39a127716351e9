#include "t.h"
static int a, b, y; static pthread_t r; static sem_t ready; static volatile sig_atomic_t done;
static void handler(int s) { NO("in the handler"); int k = a; y = k; k = a; END; YES("beside the sender"); int j = b; b = j + 1; END; done = 1; }
T(W) { a = 5; kill(getpid(), SIGUSR1); b = 7; return 0; }
T(R) { sigset_t all, none; sigfillset(&all); sigemptyset(&none); sem_post(&ready); while (!done) sigsuspend(&none); return 0; }
int main() { pthread_t w; sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); pthread_sigmask(SIG_BLOCK, &s, 0); sem_init(&ready, 0, 0); struct sigaction sa = {.sa_handler = handler}; sigaction(SIGUSR1, &sa, 0);
 GO(r, R, 0); sem_wait(&ready); GO(w, W, 0); JOIN(w); JOIN(r); puts("end"); return 0; }
