// shared_mutex, shared_timed_mutex, timed_mutex, recursive_mutex, scoped_lock of two.
#include "t.hpp"
static std::shared_mutex rw;
static std::shared_timed_mutex timed_rw;
static std::timed_mutex timed;
static std::recursive_mutex nested;
static std::mutex one, other;
static int x, shared_only, y, z, pair;
static void writer() {
    {
        std::unique_lock<std::shared_mutex> lock(rw);
        x = x + 1;
    }
    {
        std::shared_lock<std::shared_mutex> lock(rw);
        shared_only = shared_only + 1;
    }
    {
        std::unique_lock<std::shared_timed_mutex> lock(timed_rw);
        y = y + 1;
    }
    if (timed.try_lock_for(std::chrono::seconds(10))) {
        z = z + 1;
        timed.unlock();
    }
    std::scoped_lock lock(other, one);
    pair = pair + 1;
}
int main() {
    std::thread a(writer);
    std::thread b([] {
        {
            std::shared_lock<std::shared_mutex> lock(rw);
            NO("a writer while it is shared");
            int r = x;
            r += x;
            END;
            YES("a write under a shared lock");
            r += shared_only;
            r += shared_only;
            END;
        }
        {
            std::shared_lock<std::shared_timed_mutex> lock(timed_rw, std::chrono::seconds(10));
            NO("a writer while a timed one is shared");
            int r = y;
            r += y;
            END;
        }
        {
            std::lock_guard<std::timed_mutex> lock(timed);
            NO("a timed mutex");
            z = z + 1;
            END;
        }
        {
            std::scoped_lock lock(one, other);
            NO("two mutexes at once");
            pair = pair + 1;
            END;
        }
        {
            std::lock_guard<std::mutex> lock(one);
            NO("one of two mutexes");
            pair = pair + 1;
            END;
        }
        YES("between two holds");
        int r;
        {
            std::lock_guard<std::recursive_mutex> lock(nested);
            std::lock_guard<std::recursive_mutex> again(nested);
            std::lock_guard<std::timed_mutex> held(timed);
            r = z;
        }
        std::lock_guard<std::timed_mutex> held(timed);
        z = r + 1;
        END;
    });
    a.join();
    b.join();
    printf("%d\n", x);
}
