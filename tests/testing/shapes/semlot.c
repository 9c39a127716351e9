/* A car park that counts its cars beside its semaphore. */
#include <pthread.h>
#include <stdlib.h>

#include <semaphore.h>
static sem_t s;
static int free_ = 2;
static int who[2] = {-1, -1};

static void *park(void *x) {
    long id = (long)x;
    sem_wait(&s);
    int i = who[0] < 0 ? 0 : 1;
    who[i] = id;
    if (who[i] != id)
        abort();
    int mine = who[0] == id || who[1] == id;
    if (!mine)
        abort();
    who[i] = -1;
    sem_post(&s);
    return 0;
}

int main(void) {
    sem_init(&s, 0, 2);
    pthread_t t[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, park, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    (void)free_;
    return 0;
}
