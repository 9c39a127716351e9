/* Lamport's fast lock for two, whose thread that lost the race for `first` looks at `second` without a wait for the other one. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int first, second;
static int inside;

static void lock(int own)
{
    for (;;) {
        first = own;
        if (second != 0) {
            while (second != 0) {
            }
            continue;
        }
        second = own;
        if (first == own || second == own)
            return;
        while (second != 0) {
        }
    }
}

static void *visit(void *own)
{
    lock(*(int *)own);
    inside = *(int *)own;
    assert(inside == *(int *)own);
    second = 0;
    return own;
}

int main(void)
{
    static int numbers[] = {1, 2};
    pthread_t threads[2];
    for (int at = 0; at < 2; at++)
        pthread_create(&threads[at], NULL, visit, &numbers[at]);
    for (int at = 0; at < 2; at++)
        pthread_join(threads[at], NULL);
    return 0;
}
