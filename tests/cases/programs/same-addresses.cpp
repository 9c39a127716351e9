// Where threads and locals lie decides what a program does, as in hash tables by address: the same in all runs.
#include "t.hpp"
#include <functional>
#include <thread>
#include <barrier>
static int count, low; static std::mutex m;
static size_t slot(const void *at) { return reinterpret_cast<uintptr_t>(at) >> 4; }
static size_t own_slot() { return std::hash<std::thread::id>()(std::this_thread::get_id()); }
static void work(std::barrier<> &b) { std::hash<std::thread::id> h; (void)h; b.arrive_and_wait();
 for (size_t i = own_slot() % 3; i < 3; ++i) { std::lock_guard l(m); NO("under the lock"); count = count + 1; END; }
 b.arrive_and_wait(); YES("beside it"); int k = low; low = k + 1; END; }
int main() { std::barrier b(2); int here = 0; { std::jthread p([&] { work(b); }), q([&] { work(b); }); }
 for (size_t i = slot(&here) % 4; i < 4; ++i) low = low + 1;
 puts("end"); return 0; }
