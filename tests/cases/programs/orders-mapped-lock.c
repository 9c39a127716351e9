#include "t.h"
struct shared { pthread_mutex_t m; int a, x; }; static struct shared *one, *other;
static void work(struct shared *s) { pthread_mutex_lock(&s->m); NO("one lock, two addresses"); int r = s->a; s->a = r + 1; END; pthread_mutex_unlock(&s->m); YES("without it"); int k = s->x; s->x = k + 1; END; }
T(A) { work(one); return 0; }
T(B) { work(other); return 0; }
int main() { pthread_t a, b; pthread_mutexattr_t at; int f = memfd_create("x", 0); ftruncate(f, 4096); one = mmap(0, 4096, 3, MAP_SHARED, f, 0); other = mmap(0, 4096, 3, MAP_SHARED, f, 0);
 pthread_mutexattr_init(&at); pthread_mutexattr_setpshared(&at, PTHREAD_PROCESS_SHARED); pthread_mutex_init(&one->m, &at); GO(a, A, 0); GO(b, B, 0); JOIN(a); JOIN(b); printf("%d\n", one->a); return 0; }
