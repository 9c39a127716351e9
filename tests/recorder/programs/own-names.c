// Functions of the program's own that are called as some of the C library's are.
#include <pthread.h>

static int sum;

int accept(int sign) {
    return sign == 'a';
}

int send(int value) {
    return value + 1;
}

int sem_post(void) {
    return 3;
}

static void *adds(void *unused) {
    sum += accept('a') + send(1) + sem_post();
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, adds, 0);
    pthread_join(thread, 0);
    return sum;
}
