// What goes wrong lies between calls of small functions. Deposits note an amount under one lock, and the sum under another one: an audit
// in between finds an old sum. With SWAP an update takes a word and puts it back by an exchange each, and a reset gets lost in between.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t amounts = PTHREAD_MUTEX_INITIALIZER, sums = PTHREAD_MUTEX_INITIALIZER;
static int amount, sum;
static int word = 5;

static void __attribute__((noinline)) take(pthread_mutex_t *lock) {
    if (pthread_mutex_lock(lock) != 0) {
        puts("no lock");
    }
}

static void __attribute__((noinline)) give(pthread_mutex_t *lock) {
    if (pthread_mutex_unlock(lock) != 0) {
        puts("no lock");
    }
}

static int swap(int *with, int by) {
    return __atomic_exchange_n(with, by, __ATOMIC_SEQ_CST);
}

static void deposit(void) {
    take(&amounts);
    amount = 7;
    give(&amounts);
    take(&sums);
    sum += 7;
    give(&sums);
}

static void audit(void) {
    take(&amounts);
    int seen = amount;
    give(&amounts);
    take(&sums);
    int all = sum;
    give(&sums);
    assert(seen == all);
}

static void update(void) {
    int seen = swap(&word, 0);
    swap(&word, seen + 1);
}

static void reset(void) {
    swap(&word, 100);
}

static void *other(void *unused) {
#ifdef SWAP
    reset();
#else
    audit();
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
#ifdef SWAP
    update();
    pthread_join(thread, NULL);
    assert(word != 6);
#else
    deposit();
    pthread_join(thread, NULL);
#endif
}
