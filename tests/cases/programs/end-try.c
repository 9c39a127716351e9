// A try-join that fails is counted and printed: a replay must fail as often, and join where the run did.
#include "t.h"
static int x, tries; static sem_t s;
T(work) { x = x + 1; sem_wait(&s); YES("before the end"); int k = x; x = k + 1; END; return 0; }
T(beside) { x = x + 4; return 0; }
int main(void) {
  pthread_t a, b; struct timespec t;
  sem_init(&s, 0, 0); GO(a, work, 0); GO(b, beside, 0);
  tries += pthread_tryjoin_np(a, 0) == EBUSY;
  clock_gettime(CLOCK_MONOTONIC, &t);
  tries += pthread_clockjoin_np(a, 0, CLOCK_MONOTONIC, &t) == ETIMEDOUT;
  sem_post(&s); t.tv_sec += 20;
  if (pthread_clockjoin_np(a, 0, CLOCK_MONOTONIC, &t)) abort();
  JOIN(b); NO("after the joins"); x = x + 1; END;
  printf("%d\n", tries);
  return 0;
}
