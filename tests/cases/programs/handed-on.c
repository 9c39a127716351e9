// Tables that a thread fills before it starts those that read them: no schedule changes what they hold, but for numbers that depend on what is
// shared. Some of these are read together with constants beside them.
#include "t.h"
#include <string.h>
#define MANY 600
static int seed = 1, sum, late;
static int table[MANY];
static struct { int plain, drawn; } pairs[MANY];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *reader(void *from) {
    long long both;
    int own = 0;
    for (int i = 0; i < MANY; i += 100) {
        memcpy(&both, &pairs[i], sizeof both);
        own += (int)both + (int)(both >> 32) + table[i];
    }
    YES("a sum of what was handed on"); sum = sum + own; END;
    NO("the same under a lock"); pthread_mutex_lock(&lock); late = late + table[(long)from]; pthread_mutex_unlock(&lock); END;
    return NULL;
}

static void *filler(void *unused) {
    pthread_t readers[2];
    for (int i = 0; i < MANY; i++) { pairs[i].plain = i; pairs[i].drawn = 2 * seed; }
    pairs[100].drawn = 7; pairs[200].plain = seed;
    for (long i = 0; i < 2; i++) pthread_create(&readers[i], NULL, reader, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(readers[i], NULL);
    return unused;
}

int main() {
    pthread_t thread;
    for (int i = 0; i < MANY; i++) table[i] = 3 * i;
    pthread_create(&thread, NULL, filler, NULL);
    seed = 1;
    pthread_join(thread, NULL);
    return late < 0;
}
