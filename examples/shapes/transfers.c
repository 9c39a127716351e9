// Accounts with a lock each, which a transfer takes in order; one thread takes all of them and adds up.
#include "shape.h"

enum { ACCOUNTS = 6, START = 100, AMOUNT = 10 };

static struct {
    int balance;
    pthread_mutex_t lock;
} accounts[ACCOUNTS];
static int wrong;

static void transfer(int from, int to) {
    int first = from < to ? from : to, second = from + to - first;
    pthread_mutex_lock(&accounts[first].lock);
    pthread_mutex_lock(&accounts[second].lock);
    if (accounts[from].balance >= AMOUNT) {
        accounts[from].balance -= AMOUNT;
        accounts[to].balance += AMOUNT;
    }
    pthread_mutex_unlock(&accounts[second].lock);
    pthread_mutex_unlock(&accounts[first].lock);
}

static void add_up(void) {
    int sum = 0;
    for (int i = 0; i < ACCOUNTS; i++) pthread_mutex_lock(&accounts[i].lock);
    for (int i = 0; i < ACCOUNTS; i++) sum += accounts[i].balance;
    for (int i = 0; i < ACCOUNTS; i++) pthread_mutex_unlock(&accounts[i].lock);
    wrong += sum != ACCOUNTS * START;
}

static void *work(void *number) {
    unsigned i = (unsigned)(long)number, random = i + 11;
    for (int k = 0; k < 8 && i == 3; k++) add_up();
    for (int k = 0; k < 30 && i != 3; k++) {
        random = random * 1103515245u + 12345u;
        int from = (random >> 16) % ACCOUNTS, to = (random >> 20) % ACCOUNTS;
        if (from != to) transfer(from, to);
    }
    return 0;
}

int main(void) {
    for (int i = 0; i < ACCOUNTS; i++) {
        accounts[i].balance = START;
        pthread_mutex_init(&accounts[i].lock, 0);
    }
    run(4, work);
    printf("%d\n", wrong);
    return 0;
}
