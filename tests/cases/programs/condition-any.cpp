// condition_variable and condition_variable_any, with a predicate, a stop_token and a shared_mutex.
#include "t.hpp"
#include <stop_token>
static std::mutex m;
static std::shared_mutex rw;
static std::condition_variable plain;
static std::condition_variable_any any;
static bool ready, other_ready;
static int data, other, late;
int main() {
    std::thread a([] {
        data = 1;
        data = 2;
        {
            std::lock_guard<std::mutex> lock(m);
            ready = true;
        }
        plain.notify_one();
        late = 1;
        late = 2;
        other = 1;
        other = 2;
        {
            std::unique_lock<std::shared_mutex> lock(rw);
            other_ready = true;
        }
        any.notify_all();
    });
    std::thread b([] {
        int r;
        {
            std::unique_lock<std::mutex> lock(m);
            plain.wait(lock, [] { return ready; });
        }
        NO("after the wait");
        r = data;
        r += data;
        END;
        YES("written after the notification");
        r += late;
        r += late;
        END;
        {
            std::shared_lock<std::shared_mutex> lock(rw);
            any.wait(lock, [] { return other_ready; });
        }
        NO("after the wait with a shared lock");
        r += other;
        r += other;
        END;
    });
    a.join();
    b.join();
    printf("%d\n", data);
}
