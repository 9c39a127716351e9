// A thread waits for a flag, asleep in a futex, and counts its turns on its stack. -DHASTY: the flag is set before the value.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> flag, value;

int main() {
    std::thread giver([] {
#ifdef HASTY
        flag = 1;
        flag.notify_one();
        value = 1;
#else
        value = 1;
        flag = 1;
        flag.notify_one();
#endif
    });
    volatile int turns = 0;
    while (flag == 0) {
        turns = turns + 1;
        flag.wait(0);
    }
    assert(value == 1);
    giver.join();
}
