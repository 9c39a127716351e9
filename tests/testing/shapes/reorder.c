/* Two flags that are set in an order that a reader does not expect. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int a, b;

static void *s(void *x) {
    a = 1;
    b = -1;
    return x;
}

static void *c(void *x) {
    if (!((a == 0 && b == 0) || (a == 1 && b == -1))) {
        fprintf(stderr, "bug\n");
        abort();
    }
    return x;
}

int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, s, 0);
    pthread_create(&t[3], NULL, c, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return 0;
}
