// latch, barrier and counting_semaphore: what comes after them, and what comes between two of them.
#include "t.hpp"
#include <barrier>
#include <latch>
#include <semaphore>
static std::latch started{1};
static std::counting_semaphore<3> permits{0};
static int before, racing, handed, unheld, round1, early;
int main() {
    std::barrier meet(2, []() noexcept { round1 = round1 + 1; });
    std::thread a([&] {
        before = 1;
        before = 2;
        started.count_down();
        racing = 1;
        racing = 2;
        handed = 1;
        handed = 2;
        permits.release();
        unheld = 1;
        unheld = 2;
        early = 1;
        meet.arrive_and_wait();
        early = 2;
    });
    std::thread b([&] {
        started.wait();
        NO("after the latch");
        int r = before;
        r += before;
        END;
        YES("written after the count down");
        r += racing;
        r += racing;
        END;
        permits.acquire();
        NO("after the permit");
        r += handed;
        r += handed;
        END;
        YES("written after the release");
        r += unheld;
        r += unheld;
        END;
        (void)meet.arrive();
        YES("arrived without waiting");
        r += early;
        r += early;
        END;
    });
    a.join();
    b.join();
    NO("after the joins");
    int k = early;
    k += round1;
    k += early;
    END;
    printf("%d\n", k);
}
