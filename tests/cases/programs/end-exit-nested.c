// pthread_exit from nested frames with cleanup handlers; the joiner comes after those.
#include "t.h"
static int x, y;
static void clean(void *p) { YES("cleanup bare"); int k = x; x = k + (int)(intptr_t)p; END; }
static void deep(int n) { if (n == 0) pthread_exit((void *)7); volatile int own = n; deep(own - 1); }
T(work) { pthread_cleanup_push(clean, arg); deep(3); pthread_cleanup_pop(0); return 0; }
int main(void) {
  pthread_t a, b; void *r;
  GO(a, work, 1); GO(b, work, 1);
  pthread_join(a, &r); JOIN(b);
  NO("after the joins"); y = x; x = y + (int)(intptr_t)r; END;
  return 0;
}
