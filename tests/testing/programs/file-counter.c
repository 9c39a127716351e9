/* Two threads count in a file without a lock. Only the file tells of the lost update: nothing is shared in memory.
   -DNAMES: a file's name is the lock, which one of them does not wait for. -DOWN: each has a file of its own, which is right. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "counter-XXXXXX";
static char path[64], lock[64];

static long get(void) {
    long value = 0;
    int file = open(path, O_RDONLY);
    assert(read(file, &value, sizeof value) == sizeof value);
    close(file);
    return value;
}

static void put(long value) {
    int file = open(path, O_WRONLY);
    assert(write(file, &value, sizeof value) == sizeof value);
    close(file);
}

static void *count(void *name) {
#ifdef NAMES
    if (mkdir(lock, 0700) != 0)
        abort();
    rmdir(lock);
#elif defined OWN
    char own[80];
    snprintf(own, sizeof own, "%s/%s", folder, (char *)name);
    FILE *file = fopen(own, "w");
    fprintf(file, "%s\n", (char *)name);
    fclose(file);
#else
    put(get() + 1);
#endif
    return NULL;
}

int main(void) {
    assert(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/count", folder);
    snprintf(lock, sizeof lock, "%s/lock", folder);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    put(0);
    pthread_t one, other;
    pthread_create(&one, NULL, count, "one");
    pthread_create(&other, NULL, count, "other");
    pthread_join(one, NULL);
    pthread_join(other, NULL);
#if !defined NAMES && !defined OWN
    assert(get() == 2);
#endif
    return 0;
}
