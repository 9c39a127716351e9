// Readers count themselves in; the writer swaps the pointer, waits until no reader is inside, and ends the old version.
// WRONG: the writer does not wait.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct version { atomic_int alive; int a, b; };
static struct version one = {1, 1, 1}, two = {1, 2, 2};
static _Atomic(struct version *) current = &one;
static atomic_int readers;
static void *reader(void *none) {
  for (int i = 0; i < 2; i++) {
    atomic_fetch_add(&readers, 1);
    struct version *v = atomic_load(&current);
    int a = v->a, b = v->b;
    assert(atomic_load(&v->alive) && a == b);
    atomic_fetch_sub(&readers, 1);
  }
  return none;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, reader, 0);
  struct version *old = atomic_exchange(&current, &two);
#ifndef WRONG
  while (atomic_load(&readers)) {}
#endif
  atomic_store(&old->alive, 0);
  pthread_join(a, 0);
}
