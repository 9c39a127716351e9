// std::jthread joins in its destructor, asks its thread to stop before, and may do so inside of another one.
#include "t.hpp"
#include <stop_token>
static int x, y;
int main() {
    {
        std::jthread outer([](std::stop_token stop) {
            std::jthread inner([] { YES("inner"); int k = x; x = k + 1; END; });
            YES("outer"); int k = x; x = k + 1; END;
            while (!stop.stop_requested()) std::this_thread::yield();
        });
        y = y + 1;
    }
    NO("both have ended"); x = x + y; END;
}
