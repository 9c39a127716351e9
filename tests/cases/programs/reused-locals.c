// The second thread may get the thread-local variables of the first one's memory, though nothing orders the two: they are not the same variables.
#include "t.h"
static __thread int own; static int shared;
static void *work(void *arg) {
    NO("a variable of the thread's own"); own = own + 1; own = own + 1; END;
    YES("a shared one"); shared = shared + 1; END;
    return arg;
}
int main() {
    pthread_attr_t attributes; pthread_attr_init(&attributes); pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 2; i++) {
        pthread_t thread; pthread_create(&thread, &attributes, work, 0);
        usleep(20000); // no order
    }
    printf("%d\n", shared);
    return 0;
}
