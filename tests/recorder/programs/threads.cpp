// What C++ has for threads, each used so that the output is the same in every schedule.
#include <thread>
#include <mutex>
#include <shared_mutex>
#include <condition_variable>
#include <future>
#include <atomic>
#include <vector>
#include <stdexcept>
#include <cstdio>
#include <string>
#include <memory>
#include <chrono>

static std::mutex mutex;
static std::shared_mutex shared;
static std::condition_variable changed;
static std::once_flag once;
static std::atomic<int> counter{0};
static std::atomic<unsigned char> small{0};
static int ready = 0, prepared = 0, table = 0, failures = 0;

struct Guarded { int value; Guarded() : value(7) { prepared++; } ~Guarded() {} };
static Guarded &instance() { static Guarded one; return one; }

static void check(int n) {
    std::string what = "odd " + std::to_string(n);
    if (n % 2) throw std::runtime_error(what);
}

static void work(int n) {
    counter.fetch_add(n);
    small.fetch_xor(1, std::memory_order_relaxed);
    std::call_once(once, [] { table = 42; });
    instance().value += 0;
    try { check(n); } catch (const std::runtime_error &) { std::lock_guard<std::mutex> hold(mutex); failures++; }
    {
        std::unique_lock<std::mutex> hold(mutex);
        ready++;
        changed.notify_all();
        changed.wait(hold, [] { return ready >= 4; });
    }
    {
        std::shared_lock<std::shared_mutex> reading(shared);
        (void)table;
    }
    {
        std::unique_lock<std::shared_mutex> writing(shared);
        table++;
    }
}

int main() {
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; n++) threads.emplace_back(work, n);
    auto later = std::async(std::launch::async, [] { int sum = 0; for (int i = 0; i < 5; i++) sum += i; return sum; });
    std::promise<int> promise;
    std::future<int> promised = promise.get_future();
    std::thread giver([&] { promise.set_value(5); });
    for (auto &t : threads) t.join();
    giver.join();
    {
        std::unique_lock<std::mutex> hold(mutex);
        auto r = changed.wait_for(hold, std::chrono::milliseconds(5));
        std::printf("%s\n", r == std::cv_status::timeout ? "timeout" : "woken");
    }
    int five = 5, expected = 6;
    bool swapped = counter.compare_exchange_strong(expected, 10);
    std::printf("counter %d swapped %d table %d failures %d prepared %d later %d promised %d\n", counter.load(), swapped, table, failures, prepared, later.get(), promised.get());
    auto shared_value = std::make_shared<int>(five);
    std::thread sharer([shared_value] { (void)*shared_value; });
    sharer.join();
    return counter == 10 ? 0 : 1;
}
