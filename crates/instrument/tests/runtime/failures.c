// Ends in the way that its argument says, while another thread runs.
#include "hooks.h"
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int counter;
static const char constant[64] = "constant";
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static char *page;

static void *spin(void *unused) {
    for (;;)
        __foretrace_store4(&counter, __foretrace_load4(&counter, 1) + 1, 2);
    return unused;
}

static void repair(int signal) {
    (void)signal;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    __foretrace_store4(&counter, 77, 20);
}

static void *lock_both(void *argument) {
    pthread_mutex_t *first = argument ? &one : &other, *second = argument ? &other : &one;
    for (int i = 0; i < 100000; i++) {
        pthread_mutex_lock(first);
        __foretrace_load4(&counter, 30);
        pthread_mutex_lock(second);
        pthread_mutex_unlock(second);
        pthread_mutex_unlock(first);
    }
    return NULL;
}

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "";
    pthread_t threads[2];
    if (!strcmp(how, "deadlock")) {
        for (intptr_t i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, lock_both, (void *)i);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        return 0;
    }
    if (!strcmp(how, "repair")) {
        page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        signal(SIGSEGV, repair);
        __foretrace_store4(page, 5, 40);
        return (int)__foretrace_load4(page, 41);
    }
    if (!strcmp(how, "fork")) {
        if (fork() == 0) {
            __foretrace_store4(&counter, 1, 50);
            _exit(__foretrace_load4(&counter, 51) == 1 ? 3 : 4);
        }
        int status;
        wait(&status);
        return WEXITSTATUS(status);
    }
    pthread_create(&threads[0], NULL, spin, NULL);
    usleep(1000);
    if (!strcmp(how, "load"))
        __foretrace_load4((void *)16, 60);
    if (!strcmp(how, "store"))
        __foretrace_store4((void *)constant, 1, 60);
    if (!strcmp(how, "update"))
        __foretrace_update8((void *)8, 1, ADD, 60);
    if (!strcmp(how, "plain"))
        *(volatile int *)8 = 1;
    if (!strcmp(how, "lock"))
        pthread_mutex_lock((pthread_mutex_t *)24);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "assert"))
        assert(how == NULL);
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    return 9;
}
