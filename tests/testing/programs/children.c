/* Starts a child that would outlive it, reads its input, and writes a file: its runs must not meet. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int counter;

static void *count(void *unused)
{
    int old = counter;
    counter = old + 1;
    return unused;
}

int main(void)
{
    if (fork() == 0) {
        sleep(1000);
        _exit(0);
    }
    if (access("result", F_OK) == 0) {
        puts("another run has been here");
        return 2;
    }
    pthread_t one, other;
    pthread_create(&one, NULL, count, NULL);
    pthread_create(&other, NULL, count, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    int read = getchar();
    FILE *file = fopen("result", "w");
    fprintf(file, "%d %d\n", counter, read);
    fclose(file);
    return 0;
}
