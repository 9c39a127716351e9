// call_once and a local static whose first initialisation throws; who passes comes after the one that did not.
#include "t.hpp"
static std::once_flag once;
static std::atomic<int> attempts{0}, guarded{0};
static int made, unmade;
struct Setting {
    int value;
    Setting() {
        if (guarded.fetch_add(1) == 0) throw std::runtime_error("first");
        made = made + 1;
        made = made + 2;
        value = 7;
    }
};
static int setting() {
    for (;;) try {
        static Setting only;
        return only.value;
    } catch (const std::runtime_error&) {}
}
static void prepare() {
    for (;;) try {
        std::call_once(once, [] {
            if (attempts.fetch_add(1) == 0) throw std::runtime_error("first");
            unmade = 1;
            unmade = 2;
        });
        return;
    } catch (const std::runtime_error&) {}
}
int main() {
    auto work = [] {
        prepare();
        NO("after call_once that failed first");
        int r = unmade;
        r += unmade;
        END;
        r += setting();
        NO("after a local static that failed first");
        r += made;
        r += made;
        END;
    };
    std::thread a(work), b(work);
    a.join();
    b.join();
    printf("%d %d\n", made, unmade);
}
