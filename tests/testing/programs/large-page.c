// A thread draws a page of a thousand lines, and says that it is done before it touches each line a second time. Then main frees the page. -DRIGHT
// says so in the end.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

#define LINES 1000
static sem_t done;

static void *draw(void *page) {
    long *lines = page;
    for (int i = 0; i < LINES; i++) lines[i] = i;
#ifndef RIGHT
    sem_post(&done);
#endif
    for (int i = 0; i < LINES; i++) lines[i] *= 2;
#ifdef RIGHT
    sem_post(&done);
#endif
    return 0;
}

int main(void) {
    sem_init(&done, 0, 0);
    pthread_t thread;
    long *page = malloc(LINES * sizeof *page);
    pthread_create(&thread, 0, draw, page);
    sem_wait(&done);
    usleep(100000);
    free(page);
    pthread_join(thread, 0);
    return 0;
}
