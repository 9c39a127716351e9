// What functions of the C library make of shared memory; the lines are looked for by their marks.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char text[8] = "12", copied[8];
static int length, number, order, found, numbers[2] = {3, 1};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int by_value(const void *one, const void *other) { return *(const int *)one - *(const int *)other; }

static void *other(void *unused) {
    pthread_mutex_lock(&mutex);
    text[0] = '1';
    copied[0] = 0;
    numbers[0] = numbers[1] = length = number = order = found = 0;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    pthread_mutex_lock(&mutex);
    strcpy(copied, text);                              // @copy
    length = (int)strlen(text);                        // @length
    number = atoi(text);                               // @number
    order = strcmp(text, "21");                        // @order
    found = strchr(text, '2') != 0;                    // @found
    qsort(numbers, 2, sizeof *numbers, by_value);      // @sort
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
    return 0;
}
