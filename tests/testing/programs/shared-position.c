// Two threads read from one descriptor or stream: the bytes 0x7f, 'E', 'L', 'F' that each program begins with. HOW says by which call.
// With FAILS the program takes for granted that the first thread comes first.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

// Programs of C++98 and of C before 1999 call these.
int old_fscanf(FILE *stream, const char *format, ...) __asm__("fscanf");
int old_scanf(const char *format, ...) __asm__("scanf");

static int file, other;
static FILE *stream;
static int got[2];

static int take(int mine) {
    char bytes[4] = "??";
#if HOW == 0
    assert(read(file, bytes, 1) == 1);
#elif HOW == 1
    struct iovec part = { bytes, 1 };
    assert(readv(file, &part, 1) == 1);
#elif HOW == 2
    bytes[0] = fgetc(stream);
#elif HOW == 3
    assert(fgets(bytes, 2, stream));
#elif HOW == 4
    assert(fscanf(stream, "%c", bytes) == 1);
#elif HOW == 5
    assert(fread(bytes, 1, 1, stream) == 1);
#elif HOW == 6
    static _Thread_local char *line;
    static _Thread_local size_t length;
    assert(getdelim(&line, &length, 'E', stream) > 0);
    bytes[0] = line[0];
    free(line);
#elif HOW == 7 // who comes first takes the last byte
    return read(file, bytes, 1) == 1 ? 0x7f : 0;
#elif HOW >= 9 && HOW <= 11 // where the first thread left the stream
    bytes[0] = fgetc(stream);
#elif HOW >= 12 && HOW <= 14 // each by a descriptor of its own, of one open file
    assert(read(mine, bytes, 1) == 1);
#elif HOW == 15
    bytes[0] = getchar();
#elif HOW == 16
    assert(scanf("%c", bytes) == 1);
#elif HOW == 17
    bytes[0] = getc_unlocked(stream);
#elif HOW == 18
    bytes[0] = getchar_unlocked();
#elif HOW == 19
    assert(old_fscanf(stream, "%c", bytes) == 1);
#elif HOW == 20
    assert(old_scanf("%c", bytes) == 1);
#elif HOW == 21
    wchar_t wide;
    assert(fwscanf(stream, L"%lc", &wide) == 1);
    bytes[0] = wide;
#elif HOW == 22
    wchar_t wide[2];
    assert(fgetws_unlocked(wide, 2, stream));
    bytes[0] = wide[0];
#elif HOW == 23
    bytes[0] = fgetwc_unlocked(stream);
#elif HOW == 24
    bytes[0] = getwchar();
#elif HOW == 25
    bytes[0] = getwchar_unlocked();
#endif
    return bytes[0];
}

static void *first(void *unused) {
#if HOW == 8 // who moves the position decides what the other one gets
    assert(lseek(file, 1, SEEK_SET) == 1);
    got[0] = 0x7f;
#elif HOW == 9
    assert(!fseek(stream, 1, SEEK_SET));
#elif HOW == 10
    rewind(stream);
#elif HOW == 11
    assert(ungetc('E', stream) == 'E');
#else
    got[0] = take(file);
#endif
    return unused;
}

static void *second(void *unused) {
#if HOW == 8
    char byte;
    assert(read(file, &byte, 1) == 1);
    got[1] = byte;
#else
    got[1] = take(other);
#endif
    return unused;
}

int main(void) {
    file = open("/proc/self/exe", O_RDONLY);
    stream = fopen("/proc/self/exe", "r");
    assert(file >= 0 && stream);
#if HOW == 7
    assert(lseek(file, -1, SEEK_END) > 0);
#endif
#if HOW == 12
    other = dup(file);
#elif HOW == 13
    other = dup2(file, 40);
#elif HOW == 14
    other = fcntl(file, F_DUPFD, 50);
#elif HOW >= 15
    assert(dup2(file, 0) == 0);
#endif
#if HOW == 10
    assert(fseek(stream, 1, SEEK_SET) == 0);
#endif
    pthread_t threads[2];
    assert(!pthread_create(&threads[0], 0, first, 0) && !pthread_create(&threads[1], 0, second, 0));
    assert(!pthread_join(threads[0], 0) && !pthread_join(threads[1], 0));
#if FAILS && (HOW == 8 || HOW == 9 || HOW == 11)
    assert(got[1] == 'E');
#elif FAILS && HOW == 10
    assert(got[1] == 0x7f);
#elif FAILS
    assert(got[0] == 0x7f);
#endif
    fclose(stream);
    return 0;
}
