// Seats are sold over a map of rows under a shared lock. Wrong: whether a row has room is looked at with the lock shared, and the seat is taken with it exclusive.
#include <cstdio>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>
static std::shared_mutex mutex;
static std::map<int, int> rows{{1, 1}, {2, 2}};
static bool buy(int row)
{
#ifdef RIGHT
    std::unique_lock<std::shared_mutex> lock(mutex);
    if (rows.at(row) == 0) return false;
#else
    {
        std::shared_lock<std::shared_mutex> lock(mutex);
        if (rows.at(row) == 0) return false;
    }
    std::unique_lock<std::shared_mutex> lock(mutex);
#endif
    rows.at(row)--;
    return true;
}
int main()
{
    std::vector<std::thread> buyers;
    for (int i = 0; i < 4; i++) buyers.emplace_back([i] { if (!buy(1 + i % 2)) buy(2 - i % 2); });
    for (auto &buyer : buyers) buyer.join();
    for (auto &[row, left] : rows)
        if (left < 0) { std::printf("error: row %d is sold twice\n", row); return 1; }
}
