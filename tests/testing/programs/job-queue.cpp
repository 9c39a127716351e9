// Workers take jobs from a queue: `empty` and `pop` lock by themselves, and the workers ask one before the other.
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class Queue {
public:
    void push(int job)
    {
        std::lock_guard<std::mutex> guard(mutex);
        jobs.push_back(job);
    }

    bool empty()
    {
        std::lock_guard<std::mutex> guard(mutex);
        return jobs.empty();
    }

    int pop()
    {
        std::lock_guard<std::mutex> guard(mutex);
        assert(!jobs.empty());
        int job = jobs.back();
        jobs.pop_back();
        return job;
    }

private:
    std::mutex mutex;
    std::vector<int> jobs;
};

int main()
{
    Queue queue;
    for (int job = 0; job < 5; job++)
        queue.push(job);
    int sums[2] = {0, 0};
    std::vector<std::thread> workers;
    for (int number = 0; number < 2; number++)
        workers.emplace_back([&queue, &sums, number] {
            while (!queue.empty())
                sums[number] += queue.pop();
        });
    for (std::thread &worker : workers)
        worker.join();
    std::printf("sum %d\n", sums[0] + sums[1]);
}
