// Results are waited for up to a limit. Half a minute is enough for them, whatever the order of the threads; a millisecond is not.
#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#ifndef LIMIT
#define LIMIT seconds(30)
#endif

static std::mutex lock;
static std::map<std::string, int> seen;
static int total;
static std::counting_semaphore<8> jobs{0};

static void work(std::promise<int> done) {
    int mine = 0;
    for (int i = 0; i < 2; i++) {
        if (!jobs.try_acquire_for(std::chrono::seconds(20))) break;
        std::lock_guard guard(lock);
        seen[mine % 2 ? "odd" : "even"]++;
        total++;
        mine++;
    }
    done.set_value(mine);
}

int main() {
    std::vector<std::thread> threads;
    std::vector<std::future<int>> results;
    for (int i = 0; i < 2; i++) {
        std::promise<int> done;
        results.push_back(done.get_future());
        threads.emplace_back(work, std::move(done));
    }
    for (int i = 0; i < 4; i++) jobs.release();
    int sum = 0;
    for (auto &result : results) {
        if (result.wait_for(std::chrono::LIMIT) != std::future_status::ready) std::abort();
        sum += result.get();
    }
    for (auto &thread : threads) thread.join();
    if (sum != 4 || total != 4) std::abort();
    return 0;
}
