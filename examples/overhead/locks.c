// Threads that take short turns under mutexes: the price of synchronisation and of shared data.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, ACCOUNTS = 8 };

static struct {
    pthread_mutex_t lock;
    long balance, moves;
} account[ACCOUNTS];

static long rounds;

static void move(int from, int to, long amount) {
    pthread_mutex_lock(&account[from].lock);
    account[from].balance -= amount;
    account[from].moves++;
    pthread_mutex_unlock(&account[from].lock);
    pthread_mutex_lock(&account[to].lock);
    account[to].balance += amount;
    account[to].moves++;
    pthread_mutex_unlock(&account[to].lock);
}

static void *work(void *argument) {
    unsigned long state = (unsigned long)(long)argument;
    for (long round = 0; round < rounds; round++) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        move((int)(state >> 33) % ACCOUNTS, (int)(state >> 40) % ACCOUNTS, (long)(state >> 48) % 100);
    }
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t thread[THREADS];
    rounds = count > 1 ? atol(arguments[1]) : 1000;
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&account[i].lock, NULL);
    }
    for (long i = 0; i < THREADS; i++) {
        pthread_create(&thread[i], NULL, work, (void *)(i + 1));
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    long balance = 0, moves = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
        balance += account[i].balance;
        moves += account[i].moves;
    }
    printf("%ld %ld\n", balance, moves);
    return 0;
}
