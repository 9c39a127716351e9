// thread_local variables are each thread's own, unless another thread has their address; destructors run before the join.
#include "t.hpp"
static thread_local int own = 1;
static int* of_other;
static std::atomic<bool> published{false};
static int closed;
struct Closes {
    ~Closes() {
        closed = closed + 1;
        closed = closed + 1;
    }
};
int main() {
    std::thread a([] {
        thread_local Closes closes;
        (void)&closes;
        of_other = &own;
        published.store(true);
        YES("own, but another has its address");
        own = own + 1;
        END;
        while (published.load()) std::this_thread::yield();
    });
    std::thread b([] {
        NO("own");
        own = own + 1;
        END;
        while (!published.load()) std::this_thread::yield();
        *of_other = 5;
        published.store(false);
    });
    a.join();
    NO("after the destructor of a thread_local");
    int r = closed;
    r += closed;
    END;
    b.join();
    printf("%d\n", r);
}
