// A pool of threads that loses a task.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
    std::mutex m;
    std::condition_variable c;
    std::deque<std::function<void()>> q;
    bool stop = false;
    std::vector<std::thread> t;

  public:
    Pool(int n) {
        for (int i = 0; i < n; i++)
            t.emplace_back([this] { run(); });
    }

    void run() {
        for (;;) {
            std::function<void()> f;
            {
                std::unique_lock l(m);
                c.wait(l, [&] { return stop || !q.empty(); });
                if (stop)
                    return;
                f = std::move(q.front());
                q.pop_front();
            }
            f();
        }
    }

    void add(std::function<void()> f) {
        {
            std::lock_guard l(m);
            q.push_back(std::move(f));
        }
        c.notify_one();
    }

    ~Pool() {
        {
            std::lock_guard l(m);
            stop = true;
        }
        c.notify_all();
        for (auto &x : t)
            x.join();
    }
};

int main() {
    std::mutex m;
    int done = 0;
    {
        Pool p(2);
        for (int i = 0; i < 3; i++)
            p.add([&] {
                std::lock_guard l(m);
                done++;
            });
    }
    if (done != 3) {
        std::fprintf(stderr, "done %d\n", done);
        return 1;
    }
}
