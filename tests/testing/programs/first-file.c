/* The thread that makes the file comes first: the program fails if that is the second one, which no event of memory shows. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int first[2];

static void *work(void *mine)
{
    int file = open("first-file.tmp", O_CREAT | O_EXCL | O_WRONLY, 0600);
    *(int *)mine = file >= 0;
    if (file >= 0)
        close(file);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &first[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    unlink("first-file.tmp");
    return first[1];
}
