// Two queues whose operations are marked: arguments and results of several kinds, and an exception.
#include <deque>
#include <foretrace.h>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

struct Queue {
    std::mutex lock;
    std::deque<int> values;

    void enqueue(int value) {
        foretrace::operation operation(this, "enqueue", value);
        std::lock_guard<std::mutex> guard(lock);
        if (value < 0)
            throw std::invalid_argument("negative");
        values.push_back(value);
        operation.returns();
    }

    std::optional<int> dequeue() {
        foretrace::operation operation(this, "dequeue");
        std::lock_guard<std::mutex> guard(lock);
        if (values.empty())
            return operation.returns(std::optional<int>());
        int value = values.front();
        values.pop_front();
        return operation.returns(std::optional<int>(value));
    }
};

int main() {
    Queue first, second;
    std::thread other([&] {
        first.enqueue(7);
        second.enqueue(8);
    });
    other.join();
    first.dequeue();
    first.dequeue();
    second.dequeue();
    try {
        first.enqueue(-1);
    } catch (const std::invalid_argument &) {
    }
}
