// A seqlock: two writers under a spin lock of its count, one reader. WRONG: the reader does not look at the count again.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_uint seq;
static atomic_int x, y;
static void *writer(void *none) {
  for (int i = 0; i < 2; i++) {
    unsigned s;
    do {
      while ((s = atomic_load(&seq)) & 1) {}
    } while (!atomic_compare_exchange_strong(&seq, &s, s + 1));
    atomic_store(&x, atomic_load(&x) + 1);
    atomic_store(&y, atomic_load(&y) + 1);
    atomic_store(&seq, s + 2);
  }
  return none;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, writer, 0);
  int mine_x, mine_y;
  unsigned s;
  do {
    while ((s = atomic_load(&seq)) & 1) {}
    mine_x = atomic_load(&x);
    mine_y = atomic_load(&y);
#ifdef WRONG
  } while (0);
#else
  } while (atomic_load(&seq) != s);
#endif
  assert(mine_x == mine_y);
  pthread_join(a, 0);
  assert(x == 2 && y == 2);
}
