// Looks at its arguments, whose addresses depend on the environment.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char *text;

static void *measures(void *unused) {
    return strlen(text) == 11 && strcmp(text, "abcdefghijk") == 0 ? unused : 0;
}

int main(int count, char **arguments) {
    if (count != 2) return 1;
    text = strdup(arguments[1]);
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, measures, text);
    pthread_join(thread, &result);
    return result != text || memcmp(text, arguments[1], 12) != 0;
}
