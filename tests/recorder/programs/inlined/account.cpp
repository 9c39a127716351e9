// Two threads add to an account by two of its functions, each of which holds the lock. With FIXED the caller holds it.
#include "account.h"
#include <thread>

static Account account;

class Teller {
public:
    void deposit(int amount)
    {
#ifdef FIXED
        std::lock_guard<std::mutex> held(account.mutex);
#endif
        int now = account.get(); // first of Teller::deposit
        account.set(now + amount); // last of Teller::deposit
    }
};

int main()
{
    auto work = [](int amount) { Teller().deposit(amount); };
    std::thread one(work, 1), other(work, 2);
    one.join();
    other.join();
    return account.get() == 3 ? 0 : 3;
}
