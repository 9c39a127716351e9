// A lock as a class, with the guards of the standard library; foretrace.locks names its functions.
#include "t.h"
#undef T
#undef LOCK
#undef UNLOCK
#include <atomic>
#include <mutex>
#include <thread>
struct OwnSpin {
    std::atomic_flag flag = ATOMIC_FLAG_INIT;
    void lock() { while (flag.test_and_set(std::memory_order_acquire)) std::this_thread::yield(); }
    bool try_lock() { return !flag.test_and_set(std::memory_order_acquire); }
    void unlock() { flag.clear(std::memory_order_release); }
};
template <class T> struct Guarded { OwnSpin lock; T value{}; };
static Guarded<int> x, y;
static int z;
int main() {
    std::thread a([] {
        { std::lock_guard<OwnSpin> g(x.lock); NO("under a guard"); x.value = x.value + 1; END; }
        YES("two guards");
        int r;
        { std::unique_lock<OwnSpin> g(y.lock); r = y.value; }
        { std::unique_lock<OwnSpin> g(y.lock, std::try_to_lock); while (!g.owns_lock()) g.try_lock(); y.value = r + 1; }
        END;
        std::scoped_lock both(x.lock, y.lock);
        NO("under both locks"); z = z + 1; END;
    });
    std::thread b([] {
        { std::lock_guard<OwnSpin> g(x.lock); x.value = x.value + 10; }
        { std::lock_guard<OwnSpin> g(y.lock); y.value = y.value + 10; z = z + 10; }
    });
    a.join(); b.join();
    printf("%d %d\n", x.value, z);
}
