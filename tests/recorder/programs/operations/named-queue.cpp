// A queue without marks, whose operations are found by the names of functions: arguments and results of several kinds, operations
// inside of others, a refusal and an exception. With WRONG, an item is looked at and taken in two steps.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

struct Pair {
    long first, second, third;
};

template <typename T> class Queue {
    std::mutex lock;
    std::deque<T> values;

    std::optional<T> front() {
        std::lock_guard<std::mutex> guard(lock);
        return values.empty() ? std::optional<T>() : std::optional<T>(values.front());
    }

  public:
    void enqueue(const T &value) {
        std::lock_guard<std::mutex> guard(lock);
        if (value < 0)
            throw std::invalid_argument("negative");
        values.push_back(value);
    }

    bool try_push(T value) {
        std::lock_guard<std::mutex> guard(lock);
        if (values.size() > 1)
            return false;
        values.push_back(value);
        return true;
    }

    std::optional<T> dequeue() {
#ifdef WRONG
        auto value = front();
        std::lock_guard<std::mutex> guard(lock);
        if (value && !values.empty())
            values.pop_front();
        return value;
#else
        std::lock_guard<std::mutex> guard(lock);
        if (values.empty())
            return std::nullopt;
        T value = values.front();
        values.pop_front();
        return value;
#endif
    }

    bool try_pop(T &value) {
        auto found = dequeue();
        if (found)
            value = *found;
        return found.has_value();
    }
};

class Pairs {
    Pair last;

  public:
    void push(Pair pair) { last = pair; }
};

#ifndef TWO
int main() {
    Queue<int> first;
    Queue<long> second;
    Pairs pairs;
    std::thread other([&] {
        first.enqueue(7);
        second.try_push(8);
        second.try_push(9);
        second.try_push(10);
    });
    other.join();
    int number = 0;
    first.try_pop(number);
    first.try_pop(number);
    second.dequeue();
    pairs.push({1, 2, 3});
    try {
        first.enqueue(-1);
    } catch (const std::invalid_argument &) {
    }
}
#else
int main() {
    Queue<int> queue;
    queue.enqueue(1);
    queue.enqueue(2);
    std::thread one([&] { queue.dequeue(); });
    std::thread two([&] { queue.dequeue(); });
    one.join();
    two.join();
}
#endif
