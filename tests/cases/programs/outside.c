/* What comes from outside decides what the threads do: there is a block that can be split and one that cannot. */
#include "t.h"
#include <fcntl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned locked, bare;

static unsigned stream(void) {
    unsigned value = 0;
    FILE *device = fopen("/dev/urandom", "r");
    if (!device || fread(&value, 3, 1, device) != 1) abort();
    value ^= (unsigned)getc(device);
    fclose(device);
    return value;
}

static unsigned clocks(void) {
    struct timespec at;
    struct timeval day;
    timespec_get(&at, TIME_UTC);
    gettimeofday(&day, 0);
    unsigned sum = (unsigned)(at.tv_nsec + day.tv_usec + clock() + time(0));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &day);
    return sum + (unsigned)(at.tv_nsec + day.tv_usec);
}

static unsigned counters(void) {
    unsigned low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return low + high + (unsigned)__builtin_ia32_rdtsc() + (unsigned)__builtin_readcyclecounter();
}

static unsigned any(void) {
    unsigned some, other, third;
    getentropy(&some, sizeof some);
    syscall(SYS_getrandom, &other, sizeof other, 0);
    arc4random_buf(&third, sizeof third);
    return some + other + third + arc4random() + arc4random_uniform(1000);
}

static unsigned kernel(void) {
    unsigned sum = 0;
    for (int turn = 0; turn < 2; turn++) {
        char text[64] = "";
        int file = open(turn ? "/proc/self/schedstat" : "/proc/uptime", O_RDONLY);
        if (file < 0 || (turn ? pread(file, text, 63, 0) : read(file, text, 63)) <= 0) abort();
        close(file);
        for (char *at = text; *at; at++) sum += (unsigned)*at;
    }
    return sum;
}

/* A source that gives another value leads to another number of accesses in two cases of three. */
static unsigned turns(void) { return stream() % 3 + clocks() % 3 + counters() % 3 + any() % 3 + kernel() % 3; }

T(A) {
    unsigned value = turns();
    LOCK; NO("under the lock"); for (unsigned k = value; k; k--) locked++; END; UNLOCK;
    YES("bare"); unsigned old = bare; bare = old + value; END;
    return 0;
}

int main(void) {
    pthread_t a, b;
    GO(a, A, 0); GO(b, A, 0); JOIN(a); JOIN(b);
    printf("end\n");
    return 0;
}
