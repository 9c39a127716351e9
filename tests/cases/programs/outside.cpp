// Clocks and random numbers of C++ decide what the threads do.
#include "t.h"
#undef LOCK
#undef UNLOCK
#include <chrono>
#include <fstream>
#include <random>
#include <thread>
#include <mutex>
static std::mutex lock;
static unsigned locked, bare;

static unsigned value() {
    std::random_device device;
    unsigned sum = device();
    sum += unsigned(std::chrono::steady_clock::now().time_since_epoch().count());
    sum += unsigned(std::chrono::system_clock::now().time_since_epoch().count());
    std::ifstream file("/dev/urandom", std::ios::binary);
    return sum + unsigned(file.get());
}

static void work() {
    unsigned by = value();
    { std::lock_guard<std::mutex> hold(lock); NO("under the lock"); for (unsigned k = by % 5 + 1; k; k--) locked++; END; }
    YES("bare"); unsigned old = bare; for (unsigned k = by % 7 + 1; k; k--) old++; bare = old; END;
}

int main() {
    std::thread a(work), b(work);
    a.join();
    b.join();
    std::puts("end");
}
