/* One thread writes what READERS others read: as many classes of interleavings as sets of readers that come first. */
#include <pthread.h>

static int x, seen[READERS];

static void *write_it(void *unused)
{
    x = 1;
    return unused;
}

static void *read_it(void *own)
{
    *(int *)own = x;
    return NULL;
}

int main(void)
{
    pthread_t writer, readers[READERS];
    pthread_create(&writer, NULL, write_it, NULL);
    for (int k = 0; k < READERS; k++)
        pthread_create(&readers[k], NULL, read_it, &seen[k]);
    pthread_join(writer, NULL);
    for (int k = 0; k < READERS; k++)
        pthread_join(readers[k], NULL);
    return 0;
}
