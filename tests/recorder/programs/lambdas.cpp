// Threads run lambdas: one of a member function, one of main. They meet at an atomic, and at what a packaged task and its future share.
#include <atomic>
#include <future>
#include <thread>

static std::atomic<long> hits{0};

struct Server {
    std::thread thread;
    Server() {
        thread = std::thread([this] { serve(); });
    }
    void serve() { hits++; }
};

int main() {
    Server server;
    std::shared_future<int> result;
    {
        std::packaged_task<int()> task([] { return 3; });
        result = task.get_future().share();
        std::thread other([result] { hits += result.get(); });
        task();
        other.detach();
    }
    server.thread.join();
    int got = result.get();
    while (hits != 4) std::this_thread::yield();
    return got - 3;
}
