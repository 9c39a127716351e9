/* A stack whose top is read and moved apart. */
#include <pthread.h>
#include <stdlib.h>

#define N 4
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int arr[N], top, flag;

static void *pu(void *x) {
    for (int i = 0; i < N; i++) {
        pthread_mutex_lock(&m);
        if (top == N)
            abort();
        arr[top++] = i;
        flag = 1;
        pthread_mutex_unlock(&m);
    }
    return x;
}

static void *po(void *x) {
    for (int i = 0; i < N; i++) {
        if (top > 0) {
            pthread_mutex_lock(&m);
            if (top == 0)
                abort();
            top--;
            pthread_mutex_unlock(&m);
        }
    }
    return x;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, NULL, pu, 0);
    pthread_create(&b, NULL, po, 0);
    pthread_create(&c, NULL, po, 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
