// A token that one thread gives and another one takes within a time limit; the wait is a loop around one in the kernel. -DRIGHT: a token
// that comes late is taken later.
#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>

std::binary_semaphore token{0};
std::atomic<int> taken{0}, given{0};

int main() {
    std::thread giver([] {
        given = 1;
        token.release();
    });
    if (token.try_acquire_for(std::chrono::seconds(1))) {
        taken = 1;
    }
    giver.join();
#ifdef RIGHT
    if (!taken && token.try_acquire()) {
        taken = 1;
    }
#endif
    return taken == given ? 0 : 1;
}
