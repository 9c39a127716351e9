// A readers-writer spin lock in one word. WRONG: a reader comes in by a check and an addition apart.
#include <atomic>
#include <cassert>
#include <thread>
static std::atomic<int> state{0};  // -1: a writer
static int x, y;
static void read_lock() {
  for (;;) {
    int now = state.load();
    if (now < 0) continue;
#ifdef WRONG
    state.fetch_add(1);
    return;
#else
    if (state.compare_exchange_strong(now, now + 1)) return;
#endif
  }
}
static void read_unlock() { state.fetch_sub(1); }
static void write_lock() { int free = 0; while (!state.compare_exchange_strong(free, -1)) free = 0; }
static void write_unlock() { state.fetch_add(1); }
static void writer() { write_lock(); x++; y++; write_unlock(); }
static void reader() { read_lock(); int a = x, b = y; read_unlock(); assert(a == b); }
int main() {
  std::thread w(writer), r(reader), s(reader);
  w.join(); r.join(); s.join();
}
