// Whether a seat is free is asked under one hold of the lock, and the seat is taken under another. What is counted afterwards cannot fail.
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

struct Booking {
    int owner = 0;
    int views = 0;
};

class Plan {
    std::map<int, Booking> bookings;
    std::mutex lock;

  public:
    bool is_free(int seat) {
        std::lock_guard<std::mutex> hold(lock);
        return bookings.find(seat) == bookings.end();
    }
    void take(int seat, int owner) {
        std::lock_guard<std::mutex> hold(lock);
        bool is_new = bookings.insert({seat, Booking{owner, 1}}).second;
        if (!is_new) {
            abort();
        }
    }
    void view(int seat) {
        std::lock_guard<std::mutex> hold(lock);
        bookings.at(seat).views++;
    }
};

int main() {
    Plan plan;
    auto guest = [&](int owner) {
        for (int seat = 0; seat < 3; seat++) {
            if (plan.is_free(seat)) {
                plan.take(seat, owner);
            }
            plan.view(seat);
        }
    };
    std::thread one(guest, 1), other(guest, 2);
    one.join();
    other.join();
}
