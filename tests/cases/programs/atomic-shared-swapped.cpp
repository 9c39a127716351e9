#include "t.hpp"
// A compare-and-swap of a pointer reads it and compares in one step: another thread's store before it makes it fail, as with any atomic.
struct Settings { int value; };
static std::atomic<std::shared_ptr<Settings>> current, other;
static void updates() {
    NO("swapped in");
    auto old = current.load();
    while (!current.compare_exchange_weak(old, std::make_shared<Settings>(Settings{old->value + 1}))) {}
    END;
    std::shared_ptr<Settings> none;
    YES("the swap fails and says what is there, then a store");
    other.compare_exchange_strong(none, nullptr);
    other.store(std::make_shared<Settings>(Settings{none->value + 1}));
    END;
}
static void sets() {
    current.store(std::make_shared<Settings>(Settings{10}));
    other.store(std::make_shared<Settings>(Settings{20}));
}
int main() {
    current = std::make_shared<Settings>(Settings{1}); other = std::make_shared<Settings>(Settings{2});
    std::thread a(updates), b(sets);
    a.join(); b.join();
    std::puts("end");
}
