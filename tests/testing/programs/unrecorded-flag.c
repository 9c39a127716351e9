// A thread waits for a flag that code of -DPLAIN sets, which is built without recording. With -DSHARES it then looks at a count that the other
// thread still changes, before it joins that thread. With -DSPINS it does not sleep between two looks.
#ifdef PLAIN
int flag;
void set_flag(void) { __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST); }
#else
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

extern int flag;
void set_flag(void);
static atomic_int count, seen;

static void *setter(void *unused) {
    atomic_store(&count, 1);
    set_flag();
    atomic_store(&count, 2);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, setter, 0);
    while (!__atomic_load_n(&flag, __ATOMIC_SEQ_CST)) {
#ifndef SPINS
        usleep(50);
#endif
    }
#ifdef SHARES
    atomic_store(&seen, atomic_load(&count));
#endif
    pthread_join(thread, 0);
    return 0;
}
#endif
