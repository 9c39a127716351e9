// A screen is closed between the look at it and its use: the drawing thread crashes in a function that it calls.
#include <pthread.h>
#include <stdio.h>

struct screen { int drawn; };

static struct screen first;
static struct screen *current = &first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct screen *shown(void) {
    pthread_mutex_lock(&lock);
    struct screen *screen = current;
    pthread_mutex_unlock(&lock);
    return screen;
}

__attribute__((noinline)) static void draw_on(struct screen *screen) {
    screen->drawn++;
}

static void *draw(void *unused) {
    if (shown())
        draw_on(shown());
    return unused;
}

static void *close_it(void *unused) {
    pthread_mutex_lock(&lock);
    current = NULL;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, draw, NULL);
    pthread_create(&threads[1], NULL, close_it, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("closed");
    return 0;
}
