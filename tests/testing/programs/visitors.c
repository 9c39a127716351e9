/* A museum counts its visitors, and closes only when it counts none. Visitors are counted with a lock when they come. When one leaves, the
   count is read and written without it, so that another one who comes meanwhile is forgotten. A visitor looks twice at one picture: in a
   closed museum it may be gone. With the build flag -DRIGHT they leave with the lock held. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t desk = PTHREAD_MUTEX_INITIALIZER;
static int visitors, closed, picture;

static void *visitor(void *unused)
{
    pthread_mutex_lock(&desk);
    int open = !closed;
    if (open)
        visitors++;
    pthread_mutex_unlock(&desk);
    if (!open)
        return unused;
    int seen = picture;
    assert(seen == picture);
#ifdef RIGHT
    pthread_mutex_lock(&desk);
#endif
    int others = visitors - 1;
    visitors = others;
#ifdef RIGHT
    pthread_mutex_unlock(&desk);
#endif
    return unused;
}

static void *guard(void *unused)
{
    pthread_mutex_lock(&desk);
    closed = visitors == 0;
    int may_clear = closed;
    pthread_mutex_unlock(&desk);
    if (may_clear)
        picture = 1;
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], 0, visitor, 0);
    pthread_create(&threads[1], 0, visitor, 0);
    pthread_create(&threads[2], 0, guard, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
