// A check-then-act on a balance, which fails if the balance changed in between. What the run does beside it depends on the arguments, so that a schedule of another run is left.
//
//   departures [turns [how]]: `extra` one more access before the check; `retry` the check is made twice where it is late;
//   `locked` check and act stand in one critical section; `never` the account is left alone; `lonely` nobody else withdraws;
//   `spin` one thread waits for the other in a loop; `patient` it looks a thousand times, and then goes on.
#include <foretrace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 1000;
static int stale;
static int looked;
static volatile int ready;
static const char *how = "";
static int turns = 1;

static int is(const char *what) {
    return strcmp(how, what) == 0;
}

static int check(void) {
    pthread_mutex_lock(&lock);
    int found = balance;
    pthread_mutex_unlock(&lock);
    return found;
}

static void act(int found) {
    pthread_mutex_lock(&lock);
    stale |= balance != found;
    balance -= 80;
    pthread_mutex_unlock(&lock);
}

static void *withdraw(void *argument) {
    int number = *(int *)argument;
    if (is("never") || (is("lonely") && number == 2))
        return 0;
    if (is("spin") && number == 2)
        while (!ready)
            ;
    if (is("patient") && number == 2)
        for (int looks = 0; looks < 1000 && !ready; looks++)
            ;
    for (int turn = 0; turn < turns; turn++) {
        if (is("extra"))
            looked++;
        FORETRACE_ATOMIC_BEGIN("withdraw");
        if (is("locked")) {
            pthread_mutex_lock(&lock);
            if (balance >= 80)
                balance -= 80;
            pthread_mutex_unlock(&lock);
        } else {
            int found = check();
            if (is("retry") && found < 1000)
                found = check();
            if (found >= 80)
                act(found);
        }
        FORETRACE_ATOMIC_END("withdraw");
    }
    ready = 1;
    return 0;
}

int main(int count, char **arguments) {
    if (count > 1)
        turns = atoi(arguments[1]);
    if (count > 2)
        how = arguments[2];
    int numbers[] = {1, 2};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, withdraw, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    printf("%d\n", balance);
    return stale;
}
