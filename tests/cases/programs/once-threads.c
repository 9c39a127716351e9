/* pthread_once: three threads and two controls, one initialiser inside another. */
#include "t.h"
static pthread_once_t outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static int deep, made, early;
static void make_inner(void) { deep = 1; deep = 2; }
static void make_outer(void) {
    pthread_once(&inner, make_inner);
    made = deep;
    made = made + deep;
}
static void *a(void *arg) {
    pthread_once(&outer, make_outer);
    NO("after the outer one");
    int r = made;
    r += deep;
    r += made;
    END;
    early = early + r;
    return 0;
}
static void *b(void *arg) {
    pthread_once(&inner, make_inner);
    NO("after the inner one");
    int r = deep;
    r += deep;
    END;
    YES("made by the outer one");
    r += made;
    r += made;
    END;
    return 0;
}
int main(void) {
    pthread_t threads[3];
    GO(threads[0], a, 0);
    GO(threads[1], a, 0);
    GO(threads[2], b, 0);
    for (int i = 0; i < 3; i++) JOIN(threads[i]);
    printf("%d\n", made);
}
