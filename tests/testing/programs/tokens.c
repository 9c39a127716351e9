// Three requests take two tokens: each looks whether one is left, and takes it then. With -DRIGHT it does both at once.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint tokens = 2, allowed;

static int allow(void)
{
    pthread_mutex_lock(&lock);
    unsigned left = atomic_load(&tokens);
    pthread_mutex_unlock(&lock);
    if (left == 0)
        return 0;
#ifdef RIGHT
    while (!atomic_compare_exchange_strong(&tokens, &left, left - 1))
        if (left == 0)
            return 0;
#else
    atomic_store(&tokens, left - 1);
#endif
    return 1;
}

static void *request(void *unused)
{
    if (allow())
        atomic_fetch_add(&allowed, 1);
    return unused;
}

int main(void)
{
    pthread_t requests[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&requests[i], NULL, request, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(requests[i], NULL);
    assert(allowed == 2);
    return 0;
}
