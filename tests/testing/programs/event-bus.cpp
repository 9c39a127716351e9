// A bus calls handlers that listeners take away again. Wrong: it copies pointers to the handlers, gives the lock back, and calls them. What a
// handler's memory was is given out again at once, so that the call finds something else there.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Bus {
    using Handler = std::function<void(int)>;
    std::mutex lock;
    std::map<int, std::shared_ptr<Handler>> handlers;
    int last = 0;

public:
    int subscribe(Handler handler) {
        std::lock_guard held(lock);
        handlers[++last] = std::make_shared<Handler>(std::move(handler));
        return last;
    }

    void unsubscribe(int id) {
        std::lock_guard held(lock);
        handlers.erase(id);
    }

    void publish(int value) {
#ifdef RIGHT
        std::vector<std::shared_ptr<Handler>> todo;
#else
        std::vector<Handler *> todo;
#endif
        {
            std::lock_guard held(lock);
            for (auto &[id, handler] : handlers) {
#ifdef RIGHT
                todo.push_back(handler);
#else
                todo.push_back(handler.get());
#endif
            }
        }
        for (auto &handler : todo) (*handler)(value);
    }
};

struct Count {
    std::mutex lock;
    int sum = 0;
};

int main() {
    Bus bus;
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
        for (int i = 0; i < 40; i++) bus.publish(i);
    });
    for (int listener = 0; listener < 2; listener++)
        threads.emplace_back([&] {
            for (int i = 0; i < 12; i++) {
                auto count = std::make_shared<Count>();
                int id = bus.subscribe([count](int value) {
                    std::lock_guard held(count->lock);
                    count->sum += value;
                });
                std::this_thread::yield();
                bus.unsubscribe(id);
            }
        });
    for (auto &thread : threads) thread.join();
}
