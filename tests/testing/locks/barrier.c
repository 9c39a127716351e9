// A sense-reversing spin barrier. WRONG: the sense turns before the count is set back.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
enum { N = 2 };
static atomic_int left = N, sense;
static int parts[N][2];
static void barrier(int *mine) {
  *mine = !*mine;
  if (atomic_fetch_sub(&left, 1) == 1) {
#ifdef WRONG
    atomic_store(&sense, *mine);
    atomic_store(&left, N);
#else
    atomic_store(&left, N);
    atomic_store(&sense, *mine);
#endif
  } else {
    while (atomic_load(&sense) != *mine) {}
  }
}
static void *work(void *which) {
  int me = (int)(long)which, mine = 0;
  for (int round = 0; round < 2; round++) {
    parts[me][round] = 1;
    barrier(&mine);
    assert(parts[1 - me][round]);
  }
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, (void *)0);
  pthread_create(&b, 0, work, (void *)1);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
