// A log with two buffers: which one is active, and how much the other one holds, change in two critical sections.
#include <foretrace.h>
#include <mutex>
#include <thread>
static std::mutex mutex;
static int active = 0, pending = 0, seen_active, seen_pending;
static void swap_buffers() {
    FORETRACE_ATOMIC_BEGIN("yes swap");
    {
        std::lock_guard<std::mutex> guard(mutex);
        active = 1;
#ifdef RIGHT
        pending = 5;
#endif
    }
#ifndef RIGHT
    {
        std::lock_guard<std::mutex> guard(mutex);
        pending = 5;
    }
#endif
    FORETRACE_ATOMIC_END("");
}
static void flush() {
    std::lock_guard<std::mutex> guard(mutex);
    seen_active = active;
    seen_pending = pending;
}
int main() {
    std::thread one(swap_buffers), other(flush);
    one.join();
    other.join();
    return seen_active == 1 && seen_pending == 0;
}
