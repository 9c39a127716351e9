/* A value that is made twice at its first use. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int data;

static void *t1(void *x) {
    pthread_mutex_lock(&m);
    data++;
    pthread_mutex_unlock(&m);
    return x;
}

static void *t2(void *x) {
    pthread_mutex_lock(&m);
    data += 2;
    pthread_mutex_unlock(&m);
    return x;
}

static void *t3(void *x) {
    pthread_mutex_lock(&m);
    if (data >= 3) {
        fprintf(stderr, "error\n");
        exit(3);
    }
    pthread_mutex_unlock(&m);
    return x;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&c, NULL, t3, 0);
    pthread_create(&a, NULL, t1, 0);
    pthread_create(&b, NULL, t2, 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
