// The lost update of ../bank in C++: a class whose methods are each safe, and a deposit made of two of them.
#include <functional>
#include <iostream>
#include <mutex>
#include <thread>

#if __has_include(<foretrace.h>)
#include <foretrace.h>
#else
#define FORETRACE_ATOMIC_BEGIN(label)
#define FORETRACE_ATOMIC_END(label)
#endif

class Account {
public:
    explicit constexpr Account(long opening) : balance(opening) {}

    long get() const
    {
        std::lock_guard<std::mutex> guard(lock);
        return balance; // @first
    }

    void set(long value)
    {
        std::lock_guard<std::mutex> guard(lock);
        balance = value; // @remote @second
    }

    void add(long amount)
    {
        std::lock_guard<std::mutex> guard(lock);
        balance += amount;
    }

private:
    mutable std::mutex lock;
    long balance;
};

static Account account(100);

static void deposit(long amount)
{
    FORETRACE_ATOMIC_BEGIN("deposit");
#ifdef FIXED
    account.add(amount);
#else
    account.set(account.get() + amount);
#endif
    FORETRACE_ATOMIC_END("deposit");
}

static void branch_office(long amount)
{
    std::thread customer(deposit, amount);
    customer.join();
}

int main()
{
    std::thread counter(deposit, 10);
    std::thread branch(branch_office, 20);
    counter.join();
    branch.join();

    long balance = account.get();
    std::cout << "balance " << balance << ", expected 130\n";
    return balance == 130 ? 0 : 1;
}
