// The thread's part of a pool is freed when the thread ends, if nothing is left in it; the library alone knows.
#include <map>
#include <memory_resource>
#include <mutex>
#include <thread>

static std::pmr::synchronized_pool_resource pool;
static std::mutex lock;
static std::pmr::map<int, int> numbers(&pool);
static size_t looked;

int main()
{
    std::thread first([] {
        { std::lock_guard held(lock); numbers.emplace(1, 1); }
        for (int i = 0; i < 9; i++) { std::lock_guard held(lock); looked += numbers.size(); }
    });
    std::thread second([] {
        std::lock_guard held(lock);
        numbers.emplace(2, 2);
        numbers.erase(1);
    });
    first.join();
    second.join();
}
