// Loads a library that foretrace has built, whose function loses updates.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static void (*bump)(void);

static void *runs(void *unused) {
    bump();
    return unused;
}

int main(int count, char **arguments) {
    void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : 0;
    if (!library) abort();
    bump = (void (*)(void))dlsym(library, "bump");
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, runs, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    int *counter = dlsym(library, "counter");
    int lost = *counter != 2;
    dlclose(library);
    return lost;
}
