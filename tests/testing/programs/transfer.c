/* Transfers lock both accounts, each its own first: two opposite ones can wait for each other forever. */
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account accounts[2] = {{PTHREAD_MUTEX_INITIALIZER, 100}, {PTHREAD_MUTEX_INITIALIZER, 100}};

static void transfer(struct account *from, struct account *to, int amount)
{
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *there(void *unused)
{
    transfer(&accounts[0], &accounts[1], 30);
    return unused;
}

static void *back(void *unused)
{
    transfer(&accounts[1], &accounts[0], 10);
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, there, NULL);
    pthread_create(&other, NULL, back, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    printf("%d and %d\n", accounts[0].balance, accounts[1].balance);
    return 0;
}
