// Two threads meet. The one that goes on first deletes what the other is still about to leave; the right twin shares it.
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

struct Round {
    long number = 1;
    long unused = 0;
    int arrived = 0;
    std::mutex mutex;
    std::condition_variable both;

    void arrive() {
        std::unique_lock<std::mutex> lock(mutex);
        arrived++;
        if (arrived == 2)
            both.notify_all();
        else
            both.wait(lock, [&] { return arrived == 2; });
    }
};

int main() {
#ifdef RIGHT
    auto round = std::make_shared<Round>();
    std::thread other([round] { round->arrive(); });
    round->arrive();
    round.reset();
#else
    Round *round = new Round;
    std::thread other([round] { round->arrive(); });
    round->arrive();
    delete round;
#endif
    other.join();
    std::puts("met");
}
