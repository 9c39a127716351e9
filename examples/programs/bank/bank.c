/*
 * A lost update. A deposit reads the balance in one critical section and writes it in another: each access is
 * under the lock, the deposit as a whole is not.
 *
 * The second customer comes in through a branch office, a thread that starts a thread, and so usually finds
 * the first deposit done. If the two overlap, one of them is lost.
 */
#include <pthread.h>
#include <stdio.h>

#if __has_include(<foretrace.h>)
#include <foretrace.h>
#else
#define FORETRACE_ATOMIC_BEGIN(label)
#define FORETRACE_ATOMIC_END(label)
#endif

static struct {
    pthread_mutex_t lock;
    long balance;
} account = {PTHREAD_MUTEX_INITIALIZER, 100};

static long get_balance(void)
{
    pthread_mutex_lock(&account.lock);
    long balance = account.balance; /* @first */
    pthread_mutex_unlock(&account.lock);
    return balance;
}

static void set_balance(long balance)
{
    pthread_mutex_lock(&account.lock);
    account.balance = balance; /* @remote @second */
    pthread_mutex_unlock(&account.lock);
}

static void deposit(long amount)
{
    FORETRACE_ATOMIC_BEGIN("deposit");
#ifdef FIXED
    pthread_mutex_lock(&account.lock);
    account.balance += amount;
    pthread_mutex_unlock(&account.lock);
#else
    set_balance(get_balance() + amount);
#endif
    FORETRACE_ATOMIC_END("deposit");
}

static void *customer(void *amount)
{
    deposit(*(long *)amount);
    return NULL;
}

static void *branch_office(void *amount)
{
    pthread_t thread;
    pthread_create(&thread, NULL, customer, amount);
    pthread_join(thread, NULL);
    return NULL;
}

int main(void)
{
    long first = 10, second = 20;
    pthread_t counter, branch;
    set_balance(100);
    pthread_create(&counter, NULL, customer, &first);
    pthread_create(&branch, NULL, branch_office, &second);
    pthread_join(counter, NULL);
    pthread_join(branch, NULL);

    long balance = get_balance();
    printf("balance %ld, expected 130\n", balance);
    return balance == 130 ? 0 : 1;
}
