// A subject asks whether an observer is there, and then uses it; later it looks once more, by the same code of the library. With -DRIGHT
// it asks once.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Observer {
    int told = 0;
};

class Subject {
public:
    void subscribe(const std::shared_ptr<Observer> &observer)
    {
        std::scoped_lock guard(mutex);
        observers.push_back(observer);
    }

    void publish()
    {
        std::vector<std::weak_ptr<Observer>> all;
        {
            std::scoped_lock guard(mutex);
            all = observers;
        }
        for (auto &weak : all) {
#ifdef RIGHT
            if (auto observer = weak.lock())
                observer->told++;
#else
            if (weak.expired())
                continue;
            auto observer = weak.lock();
            if (!observer)
                std::abort();
            observer->told++;
#endif
        }
        std::scoped_lock guard(mutex);
        auto gone = [](auto &weak) { return weak.expired(); };
        observers.erase(std::remove_if(observers.begin(), observers.end(), gone), observers.end());
    }

private:
    std::mutex mutex;
    std::vector<std::weak_ptr<Observer>> observers;
};

int main()
{
    Subject subject;
    auto observer = std::make_shared<Observer>();
    subject.subscribe(observer);
    std::thread publisher([&] { subject.publish(); });
    std::thread owner([&] { observer.reset(); });
    publisher.join();
    owner.join();
}
