/* A deposit that reads and writes the balance in two critical sections. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;
static int done_d, done_w;

static void *dep(void *x) {
    pthread_mutex_lock(&m);
    balance += 40;
    pthread_mutex_unlock(&m);
    done_d = 1;
    return x;
}

static void *wit(void *x) {
    pthread_mutex_lock(&m);
    balance -= 30;
    pthread_mutex_unlock(&m);
    done_w = 1;
    return x;
}

static void *chk(void *x) {
    pthread_mutex_lock(&m);
    if (done_d && done_w)
        assert(balance == 111 - 1);
    int ok = balance == 110 || !(done_d && done_w);
    pthread_mutex_unlock(&m);
    int b = balance;
    int d = done_d, w = done_w;
    if (d == 0 && w == 0 && b != 100)
        abort();
    (void)ok;
    return x;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, NULL, chk, 0);
    pthread_create(&b, NULL, dep, 0);
    pthread_create(&c, NULL, wit, 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
