#include "t.h"
static int a, b, y; static sem_t s, never;
static void cleanup(void *arg) { NO("after the cancellation"); int r = a; y = r; r = a; END; YES("beside the one who cancels"); int k = b; b = k + 1; END; }
T(V) { pthread_cleanup_push(cleanup, 0); sem_post(&s); sem_wait(&never); pthread_cleanup_pop(0); return 0; }
int main() { pthread_t v; sem_init(&s, 0, 0); sem_init(&never, 0, 0); GO(v, V, 0); sem_wait(&s); a = 5; pthread_cancel(v); b = 7; JOIN(v); puts("end"); return 0; }
