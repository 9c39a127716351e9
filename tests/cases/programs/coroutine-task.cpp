// Tasks that await each other by symmetric transfer, resumed by another thread.
#include "t.hpp"
#include <coroutine>
#include <utility>
static int steps, open;
struct Task {
    struct promise_type {
        std::coroutine_handle<> waiter = std::noop_coroutine();
        int result = 0;
        Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        struct Final {
            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept { return h.promise().waiter; }
            void await_resume() noexcept {}
        };
        Final final_suspend() noexcept { return {}; }
        void return_value(int value) { result = value; }
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
    Task(std::coroutine_handle<promise_type> h) : handle(h) {}
    Task(Task&& other) : handle(std::exchange(other.handle, {})) {}
    ~Task() { if (handle) handle.destroy(); }
    bool await_ready() { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) { handle.promise().waiter = h; return handle; }
    int await_resume() { return handle.promise().result; }
};
struct Elsewhere {
    std::thread& thread;
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> h) {
        std::thread& place = thread; // the new thread may free the coroutine, and this awaiter with it
        place = std::thread([h] { h.resume(); });
    }
    void await_resume() {}
};
static Task inner(std::thread& thread) {
    steps = 1;
    steps = 2;
    co_await Elsewhere{thread};
    NO("handed over to the other thread");
    int seen = steps;
    steps = seen + 1;
    END;
    YES("both go on");
    int k = open;
    open = k + 1;
    END;
    co_return steps;
}
static Task outer(std::thread& thread) {
    int value = co_await inner(thread);
    co_return value + 1;
}
int main() {
    std::thread thread;
    Task task = outer(thread);
    task.handle.resume();
    open = open + 10;
    thread.join();
    NO("after the thread that resumed it");
    int r = steps;
    r += steps;
    END;
    printf("%d %d\n", r, task.handle.promise().result);
}
