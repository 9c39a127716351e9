// A library that is loaded while the program runs.
#include <pthread.h>

int counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void bump(void) {
    pthread_mutex_lock(&mutex);
    int now = counter;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    counter = now + 1;
    pthread_mutex_unlock(&mutex);
}
