#include "t.hpp"
// A pointer is loaded and stored as a whole. Another thread's store may come between the load and the store of an update.
struct Settings { int value; };
static std::atomic<std::shared_ptr<Settings>> current, taken;
static int seen;
static void updates() {
    NO("loaded once"); seen = current.load()->value; END;
    YES("loaded, then stored"); auto old = current.load(); current.store(std::make_shared<Settings>(Settings{old->value + 1})); END;
    NO("exchanged"); auto mine = taken.exchange(nullptr); if (mine) mine->value++; END;
}
static void sets() {
    current.store(std::make_shared<Settings>(Settings{10}));
    if (auto mine = taken.exchange(nullptr)) mine->value += 5;
}
int main() {
    current = std::make_shared<Settings>(Settings{1}); taken = std::make_shared<Settings>(Settings{2});
    std::thread a(updates), b(sets);
    a.join(); b.join();
    std::puts("end");
}
