#include "../programs/t.h"
/* A configuration of two values with a generation number; readers check the generation, which the writer sets first. */
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER; static int host, port, generation; static int bad;
T(reload) {
    YES("reload");
    pthread_rwlock_wrlock(&l); generation = 2;
#ifndef RIGHT
    pthread_rwlock_unlock(&l);
    for (volatile int i = 0; i < 3; i++) {}
    pthread_rwlock_wrlock(&l);
#endif
    host = 20; port = 200; pthread_rwlock_unlock(&l);
    END;
    return 0;
}
T(connect_) {
    pthread_rwlock_rdlock(&l);
    int g = generation, p = port, h = host;
    pthread_rwlock_unlock(&l);
    if (g == 2 && (p != 200 || h != 20)) bad = 1;
    return 0;
}
int main(void) { host = 10; port = 100; generation = 1; pthread_t a, b; GO(a, reload, 0); GO(b, connect_, 0); JOIN(a); JOIN(b); return bad; }
