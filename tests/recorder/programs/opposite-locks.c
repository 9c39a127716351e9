// Two locks in opposite order.
#include <pthread.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *left_first(void *unused) {
    pthread_mutex_lock(&left);
    count++;
    pthread_mutex_lock(&right);
    count++;
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    return unused;
}

static void *right_first(void *unused) {
    pthread_mutex_lock(&right);
    count++;
    pthread_mutex_lock(&left);
    count++;
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, left_first, 0);
    pthread_create(&two, 0, right_first, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
