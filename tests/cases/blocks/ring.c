#include "../programs/t.h"
#include <stdatomic.h>
/* A ring buffer with a head and a full flag, both atomic; the writer sets them one after the other. */
static atomic_int head, full; static int wrong;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
T(writer) {
    YES("fill");
#ifdef RIGHT
    pthread_mutex_lock(&m);
#endif
    atomic_store(&head, 4);
    atomic_store(&full, 1);
#ifdef RIGHT
    pthread_mutex_unlock(&m);
#endif
    END;
    return 0;
}
T(reader) {
#ifdef RIGHT
    pthread_mutex_lock(&m);
#endif
    int h = atomic_load(&head), f = atomic_load(&full);
#ifdef RIGHT
    pthread_mutex_unlock(&m);
#endif
    if (h == 4 && !f) wrong = 1;
    return 0;
}
int main(void) { pthread_t a, b; GO(a, writer, 0); GO(b, reader, 0); JOIN(a); JOIN(b); return wrong; }
