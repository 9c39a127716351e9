// A table under a lock that readers leave to a writer who waits. Whoever looks something up and then looks up more, still under the lock, waits for
// a writer who came in between, and the writer waits for that reader. The right twin gives the lock back before it looks up more.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static int prices[2] = {3, 4};

static int price(int of) {
    pthread_rwlock_rdlock(&lock);
    int found = prices[of];
    pthread_rwlock_unlock(&lock);
    return found;
}

static void *buyer(void *unused) {
#ifdef RIGHT
    int sum = price(0);
#else
    pthread_rwlock_rdlock(&lock);
    int sum = prices[0];
#endif
    sum += price(1);
#ifndef RIGHT
    pthread_rwlock_unlock(&lock);
#endif
    return sum < 7 ? NULL : unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, buyer, NULL);
    pthread_rwlock_wrlock(&lock);
    prices[1]++;
    pthread_rwlock_unlock(&lock);
    pthread_join(thread, NULL);
    puts("done");
}
