// Two permits for three threads, in a word of its own. WRONG: a permit is taken by a check and a decrement apart.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int permits = 2, inside;
static void take(void) {
  for (;;) {
    int left = atomic_load(&permits);
    if (left > 0) {
#ifdef WRONG
      atomic_fetch_sub(&permits, 1);
      return;
#else
      if (atomic_compare_exchange_strong(&permits, &left, left - 1)) return;
#endif
    }
  }
}
static void *work(void *none) {
  take();
  int now = atomic_fetch_add(&inside, 1) + 1;
  assert(now <= 2);
  atomic_fetch_sub(&inside, 1);
  atomic_fetch_add(&permits, 1);
  return none;
}
int main(void) {
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  assert(permits == 2);
}
