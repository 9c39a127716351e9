/* Fails in each run. */
#include <pthread.h>
#include <stdio.h>

static int counter;

static void *count(void *unused)
{
    counter++;
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, count, NULL);
    pthread_create(&other, NULL, count, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    fprintf(stderr, "error: the count is %s\n", counter ? "there" : "not there");
    return 1;
}
