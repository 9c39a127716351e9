// A class whose constructor is in another unit (DEPOT): compilers describe its members there alone.
#include <mutex>
#include <thread>

namespace shop {
class Depot {
    std::mutex guard_;
    long stock_;

public:
    Depot();
    void add(long n);
};
} // namespace shop

#ifdef DEPOT
shop::Depot::Depot() : stock_(0) {}

void shop::Depot::add(long n)
{
    std::lock_guard<std::mutex> lock(guard_);
    stock_ += n;
}
#else
int main()
{
    shop::Depot depot;
    std::thread first([&] { depot.add(1); });
    std::thread second([&] { depot.add(2); });
    first.join();
    second.join();
}
#endif
