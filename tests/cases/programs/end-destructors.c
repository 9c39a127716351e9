// Destructors of thread data: one touches shared memory under a lock, one bare, when the thread's function is long over.
#include "t.h"
static int held, bare;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t locked_key, bare_key;
static void add_locked(void *p) { NO("destructor locked"); LOCK; held += (int)(intptr_t)p; UNLOCK; END; }
static void add_bare(void *p) { YES("destructor bare"); int k = bare; bare = k + (int)(intptr_t)p; END; }
T(work) { int own[8]; for (int i = 0; i < 8; i++) ((volatile int *)own)[i] = i;
  pthread_setspecific(locked_key, arg); pthread_setspecific(bare_key, arg); return 0; }
int main(void) {
  pthread_t a, b;
  pthread_key_create(&locked_key, add_locked);
  pthread_key_create(&bare_key, add_bare);
  GO(a, work, 1); GO(b, work, 2); JOIN(a); JOIN(b);
  NO("after the joins"); held = held + bare; END;
  return 0;
}
