// promise and future, shared_future, packaged_task, async; an exception as a result.
#include "t.hpp"
static int made, after, computed, failed, background;
int main() {
    std::promise<int> promise;
    std::shared_future<int> future = promise.get_future().share();
    std::packaged_task<int(int)> task([](int by) {
        computed = computed + 1;
        computed = computed + by;
        return computed;
    });
    std::future<int> result = task.get_future();
    std::promise<void> broken;
    std::future<void> fails = broken.get_future();
    std::thread a([&] {
        made = 1;
        made = 2;
        promise.set_value(3);
        after = 1;
        after = 2;
        task(5);
        failed = 1;
        failed = 2;
        broken.set_exception(std::make_exception_ptr(std::runtime_error("no")));
    });
    std::thread b([future] {
        int r = future.get();
        NO("after get of a shared_future");
        r += made;
        r += made;
        END;
        YES("written after set_value");
        r += after;
        r += after;
        END;
    });
    std::future<int> third = std::async(std::launch::async, [] {
        background = 1;
        background = 2;
        return background;
    });
    int r = result.get();
    NO("after a packaged_task");
    r += computed;
    r += computed;
    END;
    try {
        fails.get();
    } catch (const std::runtime_error&) {
        NO("after an exception as a result");
        r += failed;
        r += failed;
        END;
    }
    YES("before get of async");
    r += background;
    r += background;
    END;
    third.get();
    NO("after get of async");
    r += background;
    r += background;
    END;
    a.join();
    b.join();
    printf("%d\n", computed);
}
