/* Two threads wait for a third one in loops that mark, in each turn, that they wait: the mark is there from the first turn on. Wrong
 * (-DHASTY) is a waiter that takes its own mark for the answer. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { READY = 1, WAITS = 2 };
#ifdef HASTY
enum { WANTED = READY | WAITS };
#else
enum { WANTED = READY };
#endif
static atomic_int state, value;

static void *waiter(void *unused)
{
    while (!(atomic_fetch_or(&state, WAITS) & WANTED))
        ;
    assert(atomic_load(&value) == 5);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, waiter, 0);
    atomic_store(&value, 5);
    atomic_fetch_or(&state, READY);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
