/* Numbers that are handed out twice. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int next;
static int ids[6];

static int get(void) {
    pthread_mutex_lock(&m);
    int v = next;
    pthread_mutex_unlock(&m);
    return v;
}

static void set(int v) {
    pthread_mutex_lock(&m);
    next = v;
    pthread_mutex_unlock(&m);
}

static void *w(void *x) {
    for (int i = 0; i < 2; i++) {
        int v = get();
        set(v + 1);
        ids[(long)x * 2 + i] = v;
    }
    return 0;
}

int main(void) {
    pthread_t t[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, w, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            if (ids[i] == ids[j]) {
                fprintf(stderr, "id %d twice\n", ids[i]);
                return 1;
            }
    return 0;
}
