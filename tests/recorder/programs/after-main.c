// The first thread ends before the others do.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int count;

static void *counting(void *unused) {
    for (int i = 0; i < 3; i++) {
        __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
        usleep(100);
    }
    puts("still here");
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, counting, 0);
    pthread_create(&two, 0, counting, 0);
    pthread_detach(one);
    pthread_exit(0);
}
