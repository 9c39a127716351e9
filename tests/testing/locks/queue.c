// An MCS queue lock. WRONG: a release that sees no next one empties the queue by a store.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct node { _Atomic(struct node *) next; atomic_int waits; };
static _Atomic(struct node *) tail;
static int count;
static void lock(struct node *me) {
  atomic_store(&me->next, 0);
  struct node *before = atomic_exchange(&tail, me);
  if (before) {
    atomic_store(&me->waits, 1);
    atomic_store(&before->next, me);
    while (atomic_load(&me->waits)) {}
  }
}
static void unlock(struct node *me) {
  struct node *next = atomic_load(&me->next);
  if (!next) {
#ifdef WRONG
    if (atomic_load(&tail) == me) { atomic_store(&tail, 0); return; }
#else
    struct node *mine = me;
    if (atomic_compare_exchange_strong(&tail, &mine, 0)) return;
#endif
    while (!(next = atomic_load(&me->next))) {}
  }
  atomic_store(&next->waits, 0);
}
static void *work(void *none) {
  struct node me = {0};
  for (int i = 0; i < 2; i++) { lock(&me); count++; unlock(&me); }
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
