// What C++ has above threads: async, promises, tasks, call_once, data of threads, shared locks, detached threads.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::once_flag once;
static int made;
static std::atomic<int> destroyed;

struct Local {
    int value = 0;
    ~Local() { destroyed += value; }
};
static thread_local Local local;

static int with_local(int value) {
    std::call_once(once, [] { made++; });
    local.value = value;
    return value;
}

static int sum_of_futures() {
    auto later = std::async(std::launch::async, [] { return with_local(1) + 19; });
    std::promise<int> promise;
    auto promised = promise.get_future();
    std::thread thread([&] { promise.set_value(later.get() + with_local(2) - 1); });
    int sum = promised.get();
    thread.join();
    return sum + std::async(std::launch::deferred, [] { return 5; }).get();
}

static std::string failure_of_a_task() {
    std::packaged_task<int(int)> task([](int) -> int { throw std::runtime_error("no"); });
    auto result = task.get_future();
    std::thread thread(std::move(task), 2);
    thread.join();
    try {
        result.get();
    } catch (std::exception &error) {
        return error.what();
    }
    return "none";
}

static int shared_count() {
    std::shared_mutex mutex;
    int count = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++) threads.emplace_back([&] { std::unique_lock lock(mutex); count++; });
    for (auto &thread : threads) thread.join();
    std::shared_lock lock(mutex);
    return count;
}

static bool told_by_a_detached_thread() {
    static std::mutex mutex;
    static std::condition_variable_any changed;
    static bool ready;
    std::thread([] { std::unique_lock lock(mutex); ready = true; changed.notify_all(); }).detach();
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return ready; });
    return ready;
}

int main() {
    int sum = sum_of_futures();
    std::string failure = failure_of_a_task();
    std::printf("%d %d %d %s %d %d\n", sum, made, destroyed.load(), failure.c_str(), shared_count(), told_by_a_detached_thread());
}
