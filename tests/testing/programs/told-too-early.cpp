// A worker fills an array that main deletes once it hears that the worker is done. The wrong twin says so before it fills the last element.
#include <condition_variable>
#include <mutex>
#include <thread>

int main() {
    int *numbers = new int[16];
    std::mutex mutex;
    std::condition_variable condition;
    bool done = false;
    std::thread worker([&] {
        numbers[8] = 1;
#ifdef RIGHT
        numbers[9] = 2;
#endif
        {
            std::lock_guard<std::mutex> guard(mutex);
            done = true;
            condition.notify_one();
        }
#ifndef RIGHT
        numbers[9] = 2;
#endif
    });
    {
        std::unique_lock<std::mutex> guard(mutex);
        condition.wait(guard, [&] { return done; });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    delete[] numbers;
    worker.join();
}
