/* A filler makes a block and hands it over; a clerk frees what was handed over, which may be nothing yet. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *handed_over;
static int seen;

static void *fill(void *unused)
{
    int *block = malloc(4 * sizeof *block);
    block[0] = 1;
    pthread_mutex_lock(&lock);
    handed_over = block;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *look(void *unused)
{
    pthread_mutex_lock(&lock);
    if (handed_over != NULL)
        seen += handed_over[0];
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *clear(void *unused)
{
    pthread_mutex_lock(&lock);
    free(handed_over);
    handed_over = NULL;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    void *(*const parts[])(void *) = {fill, look, clear};
    pthread_t threads[3];
    for (int at = 0; at < 3; at++)
        pthread_create(&threads[at], NULL, parts[at], NULL);
    for (int at = 0; at < 3; at++)
        pthread_join(threads[at], NULL);
    free(handed_over);
    return seen > 1;
}
