// A task waits for a flag, as with an asynchronous runtime's notification: who raises the flag wakes those that have begun to wait. Begun after the
// flag was read, the wait misses that. RIGHT begins to wait before it reads the flag.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

class Notify {
    std::mutex mutex;
    std::condition_variable changed;
    int calls = 0;

public:
    int begin() {
        std::lock_guard<std::mutex> guard(mutex);
        return calls;
    }
    void wait(int begun) {
        std::unique_lock<std::mutex> guard(mutex);
        changed.wait(guard, [&] { return calls != begun; });
    }
    void wake() {
        std::lock_guard<std::mutex> guard(mutex);
        calls++;
        changed.notify_all();
    }
};

class Flag {
    Notify notify;
    std::mutex mutex;
    bool is_set = false;

public:
    bool read() {
        std::lock_guard<std::mutex> guard(mutex);
        return is_set;
    }
    void raise() {
        {
            std::lock_guard<std::mutex> guard(mutex);
            is_set = true;
        }
        notify.wake();
    }
    void wait() {
#ifdef RIGHT
        int begun = notify.begin();
        if (!read())
            notify.wait(begun);
#else
        if (!read())
            notify.wait(notify.begin());
#endif
    }
};

int main() {
    Flag flag;
    std::thread task([&] { flag.wait(); });
    flag.raise();
    task.join();
    std::puts("done");
}
