/* Two fields that change together, the second one first: a reader that sees the first sees both. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second;

static void *update(void *unused)
{
    pthread_mutex_lock(&second_lock);
    second = 2;
    pthread_mutex_unlock(&second_lock);
    pthread_mutex_lock(&first_lock);
    first = 1;
    pthread_mutex_unlock(&first_lock);
    return unused;
}

static void *check(void *unused)
{
    pthread_mutex_lock(&first_lock);
    int seen = first;
    pthread_mutex_unlock(&first_lock);
    if (seen == 0)
        return unused;
    pthread_mutex_lock(&second_lock);
    if (second != seen + 1) {
        fprintf(stderr, "error: %d and %d\n", seen, second);
        abort();
    }
    pthread_mutex_unlock(&second_lock);
    return unused;
}

int main(void)
{
    pthread_t reader, writer;
    pthread_create(&reader, NULL, check, NULL);
    pthread_create(&writer, NULL, update, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    return 0;
}
