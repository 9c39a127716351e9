/* A small function is called in each turn of a loop; what must be atomic lies within one call. With FIXED the function has one
   critical section in place of two. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cells[3];

#ifdef FIXED
#define AGAIN(does)
#else
#define AGAIN(does) does(&lock)
#endif

static void add(int index, int value)
{
    pthread_mutex_lock(&lock);
    int now = cells[index]; /* first of add */
    AGAIN(pthread_mutex_unlock);
    AGAIN(pthread_mutex_lock);
    cells[index] = now + value; /* last of add */
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    for (int i = 0; i < 3; i++)
        add(i, 1);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++)
        if (cells[i] != 2)
            return 3;
    return 0;
}
