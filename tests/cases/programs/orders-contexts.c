#include "t.h"
#include <ucontext.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static int x, z; static __thread ucontext_t home, one, two; static __thread int turns;
static void body(void) { for (int i = 0; i < 2; i++) { LOCK; NO("in turns"); x = x + 1; x = x + 1; END; UNLOCK; turns++; ucontext_t *from = turns % 2 ? &one : &two, *to = turns % 2 ? &two : &one; swapcontext(from, to); } YES("bare in a context"); int k = z; z = k + 1; END; }
static void make(ucontext_t *c, char *stack) { getcontext(c); c->uc_stack.ss_sp = stack; c->uc_stack.ss_size = 65536; c->uc_link = &home; makecontext(c, body, 0); }
T(A) { char *s = malloc(65536), *t = malloc(65536); make(&one, s); make(&two, t); swapcontext(&home, &one); free(s); free(t); return (void *)(intptr_t)turns; }
int main() { pthread_t a, b; void *r, *s; GO(a, A, 0); GO(b, A, 0); pthread_join(a, &r); pthread_join(b, &s); printf("%d %d\n", (int)(intptr_t)r, (int)(intptr_t)s); return 0; }
