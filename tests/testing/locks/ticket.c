// A ticket lock. WRONG: a thread takes its ticket by a load and a store.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_uint next, serving;
static int count;
static unsigned take(void) {
#ifdef WRONG
  unsigned mine = atomic_load(&next);
  atomic_store(&next, mine + 1);
#else
  unsigned mine = atomic_fetch_add(&next, 1);
#endif
  while (atomic_load(&serving) != mine) {}
  return mine;
}
static void *work(void *none) {
  for (int i = 0; i < 2; i++) {
    unsigned mine = take();
    count++;
    atomic_store(&serving, mine + 1);
  }
  return none;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(count == 4);
}
