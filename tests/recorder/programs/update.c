// A lost update; as many turns as the first argument says.
#include <foretrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int count;

static void *add(void *argument) {
    int turns = *(int *)argument;
    for (int i = 0; i < turns; i++) {
        FORETRACE_ATOMIC_BEGIN("add");
        int old = count;
        count = old + 1;
        FORETRACE_ATOMIC_END("add");
    }
    return 0;
}

int main(int count_of_arguments, char **arguments) {
    int turns = count_of_arguments > 1 ? atoi(arguments[1]) : 2;
    pthread_t one, two;
    pthread_create(&one, 0, add, &turns);
    pthread_create(&two, 0, add, &turns);
    pthread_join(one, 0);
    pthread_join(two, 0);
    printf("%d\n", count);
    return count != 2 * turns;
}
