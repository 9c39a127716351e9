#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int low, high;

static void set(int v) {
    pthread_mutex_lock(&lock);
    low = v;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    high = v;
    pthread_mutex_unlock(&lock);
}

static void *writer(void *arg) {
    for (int i = 1; i <= 3; i++)
        set(i);
    return arg;
}

static void *reader(void *arg) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        int l = low, h = high;
        pthread_mutex_unlock(&lock);
        assert(l == h);
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
