// The program takes the place of a file that an earlier run has left: it removes it, and makes one that must be new. It is right, but two runs of it at
// the same time disturb each other, and one of them may end before it has opened any file.
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int file;

static void *write_part(void *unused) {
    write(file, "part", 4);
    return unused;
}

int main(void) {
    pthread_t one, other;
    file = open("fresh.txt", O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (file < 0) {
        usleep(20000);
        if (unlink("fresh.txt")) {
            return 1;
        }
        usleep(20000);
        file = open("fresh.txt", O_WRONLY | O_CREAT | O_EXCL, 0644);
    }
    if (file < 0) {
        return 1;
    }
    pthread_create(&one, NULL, write_part, NULL);
    pthread_create(&other, NULL, write_part, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
