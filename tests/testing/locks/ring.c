// A bounded ring of two cells, one producer, one consumer. WRONG: head moves before the cell is filled.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
enum { SIZE = 2, ALL = 4 };
static int cells[SIZE];
static atomic_uint head, tail;
static void *producer(void *none) {
  for (int i = 1; i <= ALL; i++) {
    unsigned h = atomic_load(&head);
    while (h - atomic_load(&tail) == SIZE) {}
#ifdef WRONG
    atomic_store(&head, h + 1);
    cells[h % SIZE] = i;
#else
    cells[h % SIZE] = i;
    atomic_store(&head, h + 1);
#endif
  }
  return none;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, producer, 0);
  int sum = 0;
  for (int i = 0; i < ALL; i++) {
    unsigned t = atomic_load(&tail);
    while (atomic_load(&head) == t) {}
    sum += cells[t % SIZE];
    atomic_store(&tail, t + 1);
  }
  pthread_join(a, 0);
  assert(sum == 10);
}
