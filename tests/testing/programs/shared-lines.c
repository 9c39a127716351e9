// Two threads take what there is of one file, each until nothing is left: by a descriptor, or by a stream with STREAM. The first one takes one
// of two bytes and the other one the other, in some order. With FAILS the program takes for granted that one thread takes both.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int file;
static FILE *stream;
static int got[2];

static void *take(void *number) {
    char byte;
#ifdef STREAM
    while (fread(&byte, 1, 1, stream) == 1) {
#else
    while (read(file, &byte, 1) == 1) {
#endif
        got[(long)number]++;
    }
    return 0;
}

int main(void) {
    file = open("/proc/self/exe", O_RDONLY);
    stream = fdopen(file, "r");
    assert(file >= 0 && stream && fseek(stream, -2, SEEK_END) == 0);
    pthread_t threads[2];
    assert(!pthread_create(&threads[0], 0, take, (void *)0) && !pthread_create(&threads[1], 0, take, (void *)1));
    assert(!pthread_join(threads[0], 0) && !pthread_join(threads[1], 0));
    assert(got[0] + got[1] == 2);
#ifdef FAILS
    assert(got[0] != 1);
#endif
    return 0;
}
