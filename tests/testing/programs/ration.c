/* A bucket that holds one token, and clients that take and refill it in turns. How many get a token depends on the order of whole turns, though
   not on that of whole threads. With -DWRONG a count is lost between two turns that meet. */
#include <pthread.h>
#include <stdio.h>

enum { CLIENTS = 2, TURNS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int tokens = 1, accepted, asked;

static void *client(void *unused) {
    for (int turn = 0; turn < TURNS; turn++) {
        pthread_mutex_lock(&lock);
#ifdef WRONG
        int before = asked;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        asked = before + 1;
#else
        asked++;
#endif
        if (turn % 2 == 1)
            tokens = 1;
        else if (tokens > 0) {
            tokens--;
            accepted++;
        }
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t threads[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&threads[i], NULL, client, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    printf("accepted %d of %d\n", accepted, asked);
    return 0;
}
