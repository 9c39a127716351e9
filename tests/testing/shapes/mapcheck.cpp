// A map that is asked under one lock and changed under the next.
#include <iostream>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

struct Registry {
    std::mutex m;
    std::map<int, int> v;
    int made = 0;

    bool has(int k) {
        std::lock_guard g(m);
        return v.count(k);
    }

    void put(int k) {
        std::lock_guard g(m);
        v[k] = 1;
        made++;
    }
};

int main() {
    Registry r;
    std::vector<std::thread> t;
    for (int i = 0; i < 3; i++)
        t.emplace_back([&] {
            for (int k = 0; k < 2; k++)
                if (!r.has(k))
                    r.put(k);
        });
    for (auto &x : t)
        x.join();
    if (r.made != 2) {
        std::cerr << "made " << r.made << "\n";
        return 1;
    }
}
