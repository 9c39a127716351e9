// A table that grows under its lock: who finds it full moves it to a larger block and frees the old one.
#include "shape.h"

#define THREADS 4
#define TURNS 14

static int *entries;
static int count, room, found;

static void add(int value) {
    pthread_mutex_lock(&lock);
    if (count == room) {
        int *larger = malloc(sizeof *larger * (size_t)(room ? 2 * room : 4));
        for (int i = 0; i < count; i++) larger[i] = entries[i];
        free(entries);
        entries = larger;
        room = room ? 2 * room : 4;
    }
    entries[count++] = value;
    pthread_mutex_unlock(&lock);
}

static int last(void) {
    pthread_mutex_lock(&lock);
    int value = count ? entries[count - 1] : -1;
    pthread_mutex_unlock(&lock);
    return value;
}

static void *work(void *argument) {
    int number = (int)(long)argument;
    for (int i = 0; i < TURNS; i++) {
        if (last() != number * 100 + i - 1) found++;
        add(number * 100 + i);
    }
    return 0;
}

int main(void) {
    run(THREADS, work);
    printf("%d entries\n", count);
    return 0;
}
