/* Two guests want one seat. Whether it is free is looked up in one hold of the lock, and it is taken in another; with FIXED both are
   in one. */
#include "table.h"
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table seats;

#ifdef FIXED
#define AGAIN(does)
#else
#define AGAIN(does) does(&lock)
#endif

static void book(int seat)
{
    int taken;
    pthread_mutex_lock(&lock);
    TABLE_FIND(&seats, seat, taken); /* first */
    AGAIN(pthread_mutex_unlock);
    if (!taken) {
        AGAIN(pthread_mutex_lock);
        TABLE_ADD(&seats, seat); /* last */
        AGAIN(pthread_mutex_unlock);
    }
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *guest(void *unused)
{
    (void)unused;
    book(7);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, guest, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return seats.count == 1 ? 0 : 3;
}
