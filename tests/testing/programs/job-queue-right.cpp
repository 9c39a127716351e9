// The twin of job-queue.cpp that is right: one critical section asks and takes.
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

class Queue {
public:
    void push(int job)
    {
        std::lock_guard<std::mutex> guard(mutex);
        jobs.push_back(job);
    }

    std::optional<int> pop()
    {
        std::lock_guard<std::mutex> guard(mutex);
        if (jobs.empty())
            return std::nullopt;
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
            while (std::optional<int> job = queue.pop())
                sums[number] += *job;
        });
    for (std::thread &worker : workers)
        worker.join();
    std::printf("sum %d\n", sums[0] + sums[1]);
}
