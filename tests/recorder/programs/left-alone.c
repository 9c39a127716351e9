// A thread ends by the system call alone, so nothing that should run at its end runs.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void add(void) {
    pthread_mutex_lock(&lock);
    done++;
    pthread_mutex_unlock(&lock);
}

static void *leaves(void *unused) {
    add();
    long number = SYS_exit;
    __asm__ volatile("syscall" : "+a"(number) : "D"(0) : "rcx", "r11", "memory");
    return unused;
}

static void *works(void *unused) {
    add();
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, leaves, NULL);
    pthread_detach(first);
    pthread_create(&second, NULL, works, NULL);
    pthread_join(second, NULL);
    for (int now = 0; now != 2;) {
        pthread_mutex_lock(&lock);
        now = done;
        pthread_mutex_unlock(&lock);
        if (now != 2) usleep(1000);
    }
    printf("%d\n", done);
}
