/* Does not end by itself. */
#include <pthread.h>
#include <unistd.h>

static int counter;

static void *count(void *unused)
{
    for (;;) {
        counter++;
        usleep(1000);
    }
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, count, NULL);
    pthread_create(&other, NULL, count, NULL);
    pthread_join(one, NULL);
    return 0;
}
