// Sums of asynchronous tasks without a lock.
#include <future>
#include <iostream>
#include <numeric>
#include <vector>

struct Stats {
    long sum = 0, n = 0;
};

static Stats s;

static int work(int k) {
    s.sum += k;
    s.n++;
    return k;
}

int main() {
    std::vector<std::future<int>> f;
    for (int i = 1; i <= 3; i++)
        f.push_back(std::async(std::launch::async, work, i));
    int t = 0;
    for (auto &x : f)
        t += x.get();
    if (t != s.sum || s.n != 3) {
        std::cerr << "lost " << s.sum << " " << s.n << "\n";
        return 1;
    }
}
