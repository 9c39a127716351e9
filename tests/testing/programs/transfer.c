/* Transfers lock both accounts, each its own first: two opposite ones can wait for each other forever. With HANDLER the
   program handles what ends it, as servers and frameworks for tests do. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

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

#ifdef HANDLER
static void stop(int signal)
{
    _Exit(signal);
}
#endif

int main(void)
{
#ifdef HANDLER
    signal(SIGTERM, stop);
#endif
    pthread_t one, other;
    pthread_create(&one, NULL, there, NULL);
    pthread_create(&other, NULL, back, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    printf("%d and %d\n", accounts[0].balance, accounts[1].balance);
    return 0;
}
