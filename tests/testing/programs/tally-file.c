// Two threads count in a file. With RIGHT each reads and writes under a lock; another run of the program at the same time still disturbs it.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int tally(void) {
    char digits[16] = {0};
    int file = open("tally.txt", O_RDONLY);
    if (file < 0 || read(file, digits, sizeof digits - 1) < 0) {
        exit(2);
    }
    close(file);
    return atoi(digits);
}

static void set(int number) {
    char digits[16];
    int length = snprintf(digits, sizeof digits, "%d", number);
    int file = open("tally.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || write(file, digits, length) != length) {
        exit(2);
    }
    close(file);
}

static void *count(void *unused) {
#ifdef RIGHT
    pthread_mutex_lock(&lock);
#endif
    set(tally() + 1);
#ifdef RIGHT
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t one, other;
    set(0);
    pthread_create(&one, NULL, count, NULL);
    pthread_create(&other, NULL, count, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return tally() != 2;
}
