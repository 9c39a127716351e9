// What only the C++ library accesses is no candidate: counts of owners, semaphores, what a stop_token leads to. A count that the
// program asks for is its own.
#include "t.hpp"
#include <semaphore>
#include <stop_token>
int main() {
    auto shared = std::make_shared<long>(1), asked = std::make_shared<long>(2);
    std::counting_semaphore<8> slots{2};
    long owners = 0;
    std::thread first([own = shared, count = asked, &slots, &owners] {
        NO("copies of a pointer");
        auto one = own;
        auto two = one;
        END;
        NO("two slots");
        slots.acquire();
        slots.release();
        END;
        YES("asks twice how many owners there are");
        owners = count.use_count();
        owners += count.use_count();
        END;
    });
    std::thread second([own = shared, count = asked, &slots] {
        auto one = own;
        auto other = count;
        slots.acquire();
        slots.release();
    });
    std::jthread stopped([](std::stop_token stop) {
        NO("looks twice whether to stop");
        (void)stop.stop_requested();
        (void)stop.stop_requested();
        END;
    });
    stopped.request_stop();
    first.join();
    second.join();
    printf("%d\n", owners > 1);
}
