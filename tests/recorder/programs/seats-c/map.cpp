// Two guests want one seat. Whether it is free is looked up in one hold of the lock, and it is taken in another; with FIXED both are in
// one. The function of the threads has the bug itself.
#include <mutex>
#include <thread>
#ifdef UNORDERED
#include <unordered_map>
using Map = std::unordered_map<int, int>;
#else
#include <map>
using Map = std::map<int, int>;
#endif

static std::mutex guard;
static Map seats;
static int booked;

static void book(int seat)
{
    std::unique_lock<std::mutex> held(guard);
    if (seats.find(seat) != seats.end()) // first
        return;
#ifndef FIXED
    held.unlock();
    held.lock();
#endif
    seats.emplace(seat, 1); // last
    booked = booked + 1;
}

int main()
{
    std::thread one(book, 7), other(book, 7);
    one.join();
    other.join();
    return booked == 1 ? 0 : 3;
}
