/* Takes more and more memory. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *take(void *unused)
{
    for (int i = 0; i < 2000; i++) {
        char *memory = malloc(1 << 20);
        memset(memory, i, 1 << 20);
        usleep(500);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, take, NULL);
    pthread_join(thread, NULL);
    return 0;
}
