// Coroutines that stay in their thread, that suspend inside a held lock's scope, that throw, and one that two threads share.
#include "t.hpp"
#include <coroutine>
static std::mutex m;
static int locked, held, bare, thrown;
struct Numbers {
    struct promise_type {
        int value = 0;
        std::exception_ptr failure;
        Numbers get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int next) { value = next; return {}; }
        void return_void() {}
        void unhandled_exception() { failure = std::current_exception(); }
    };
    std::coroutine_handle<promise_type> handle;
    Numbers(std::coroutine_handle<promise_type> h) : handle(h) {}
    Numbers(const Numbers&) = delete;
    ~Numbers() { handle.destroy(); }
    bool next(int& value) {
        handle.resume();
        if (handle.promise().failure) std::rethrow_exception(handle.promise().failure);
        value = handle.promise().value;
        return !handle.done();
    }
};
static Numbers numbers(int most) {
    for (int n = 1; n <= most; n++) {
        std::lock_guard<std::mutex> lock(m);
        NO("held over a suspension");
        locked = locked + n;
        co_yield n;
        locked = locked + n;
        END;
    }
    thrown = thrown + 1;
    throw std::runtime_error("over");
}
static void work() {
    int sum = 0, value;
    Numbers own = numbers(2);
    try {
        while (own.next(value)) {
            sum += value;
            NO("while the coroutine that holds the lock is suspended");
            held = held + value;
            END;
        }
    } catch (const std::runtime_error&) { sum += 100; }
    YES("without the coroutine");
    bare = bare + sum;
    END;
    if (sum != 103) abort();
}
int main() {
    std::thread a(work), b(work);
    a.join();
    b.join();
    printf("%d\n", locked);
}
