// What an initialiser does can be seen before its end by those who do not go past it.
#include "t.hpp"
static std::once_flag once;
static int made, after;
int main() {
    std::thread a([] {
        std::call_once(once, [] {
            made = 1;
            made = 2;
        });
        after = 1;
        after = 2;
    });
    std::thread b([] {
        YES("without call_once");
        int r = made;
        r += made;
        END;
        std::call_once(once, [] { made = 3; });
        NO("after call_once");
        r += made;
        r += made;
        END;
        YES("written after call_once");
        r += after;
        r += after;
        END;
    });
    a.join();
    b.join();
    printf("%d\n", after);
}
