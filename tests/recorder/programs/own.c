// A thread's own memory, and what may happen in the middle of accesses to it.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int *page;
static volatile int ticks;
static int result, table[256];

static void fill(int from) {
    for (int i = 0; i < 256; i++) {
        table[i] = table[(i + from) % 256] + i;
    }
}

static void repair(int signal) {
    (void)signal;
    mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
}

static void tick(int signal) {
    (void)signal;
    ticks = ticks + 1;
}

static int with_protection(int repaired) {
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[1] = 5;
    page[2] = page[1] + 1;
    mprotect((void *)page, 4096, PROT_NONE);
    if (repaired) {
        signal(SIGSEGV, repair);
    }
    page[2] = 7;
    mprotect((void *)page, 4096, PROT_NONE);
    return page[2] + page[1];
}

static int with_signals(void) {
    struct itimerval every = {{0, 500}, {0, 500}};
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; ticks < 20; i++) {
        fill(i);
    }
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_REAL, &every, NULL);
    return ticks >= 20;
}

static int with_child(void) {
    fill(1);
    pid_t child = fork();
    if (child == 0) {
        fill(2);
        _exit(table[9] == 0);
    }
    fill(3);
    waitpid(child, NULL, 0);
    return table[200];
}

// A system call writes what the thread has written and reads again.
static int with_calls(void) {
    int ends[2], numbers[4] = {1, 2, 3, 4};
    if (pipe(ends) != 0 || write(ends[1], numbers, sizeof numbers) < 0) {
        return -1;
    }
    numbers[0] = numbers[1] + numbers[2];
    if (read(ends[0], numbers, sizeof numbers) < 0) {
        return -1;
    }
    return numbers[0] * 1000 + numbers[3];
}

static void *see(void *unused) {
    result = result * 2;
    return unused;
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    pthread_t other;
    fill(7);
    if (strcmp(what, "protect") == 0) {
        result = with_protection(0);
    } else if (strcmp(what, "repair") == 0) {
        result = with_protection(1);
    } else if (strcmp(what, "signals") == 0) {
        result = with_signals();
    } else if (strcmp(what, "fork") == 0) {
        result = with_child();
    } else if (strcmp(what, "read") == 0) {
        result = with_calls();
    } else if (strcmp(what, "kill") == 0) {
        result = 3;
        pthread_create(&other, NULL, see, NULL);
        pthread_join(other, NULL);
        fill(8);
        kill(getpid(), SIGKILL);
    }
    pthread_create(&other, NULL, see, NULL);
    pthread_join(other, NULL);
    printf("%d\n", result);
    return 0;
}
