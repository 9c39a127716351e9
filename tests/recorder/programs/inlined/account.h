// An account whose functions are short enough to be inlined.
#pragma once
#include <mutex>

class Account {
public:
#ifdef FIXED
    int get() { return balance; }
    void set(int value) { balance = value; }
    std::mutex mutex;
#else
    int get()
    {
        std::lock_guard<std::mutex> held(mutex);
        return balance;
    }

    void set(int value)
    {
        std::lock_guard<std::mutex> held(mutex);
        balance = value;
    }

private:
    std::mutex mutex;
#endif
private:
    int balance = 0;
};
