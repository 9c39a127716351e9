#include "t.h"
// The creator writes the name of a thread where the call says, and the result where the join says. The new thread finds its name there,
// another one may come before.
static pthread_t named, own; static void *result; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
T(A) { YES("the name of another thread"); int k = named != 0; k += named != 0; END; return (void *)(intptr_t)(k < 3); }
T(B) { NO("its own name"); int k = own != 0; k += own != 0; END; return (void *)1; }
T(C) { YES("a result"); long k = (long)result; k += (long)result; END; return 0; }
T(D) { return (void *)7; }
int main() {
    pthread_t a, c, d;
    GO(a, A, 0); GO(named, D, 0); GO(own, B, 0); GO(c, C, 0); GO(d, D, 0);
    pthread_join(d, &result);
    JOIN(a); JOIN(named); JOIN(own); JOIN(c);
    printf("%d\n", (int)(intptr_t)result);
    return 0;
}
