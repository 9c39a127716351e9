// Variable arguments: what was read of shared memory goes through them. The lines are looked for by their marks.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static int shared = 3, first, second, third, in_memory;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *other(void *unused) {
    pthread_mutex_lock(&mutex);
    shared = 3;
    first = second = third = in_memory = 0;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static long last(int count, va_list list) {
    long value = 0;
    while (count--) value = va_arg(list, long);
    return value;
}

static long chosen(int count, ...) {
    va_list list, copy;
    va_start(list, count);
    va_copy(copy, list);
    long value = last(count, copy);
    va_end(copy);
    va_end(list);
    return value;
}

static long behind_a_float(const char *text, ...) {
    va_list list;
    va_start(list, text);
    double real = va_arg(list, double);
    long value = va_arg(list, long);
    va_end(list);
    return real == 2.5 ? value : 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    pthread_mutex_lock(&mutex);
    first = (int)chosen(1, (long)shared + 1);                              // @first
    second = (int)chosen(3, 7L, 8L, (long)shared);                         // @second
    third = (int)behind_a_float("text", 2.5, (long)shared);                // @third
    in_memory = (int)chosen(7, 1L, 2L, 3L, 4L, 5L, 6L, (long)shared);      // @memory
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
    printf("%d %d %d %d\n", first, second, third, in_memory);
}
