// Objects of threads with destructors that touch shared memory, in threads that a vector of std::thread makes again and again.
#include "t.hpp"
#include <vector>
static int bare, held; static std::mutex m;
struct Local {
    std::vector<int> own;
    ~Local() {
        { NO("destructor locked"); std::lock_guard<std::mutex> guard(m); held += (int)own.size(); END; }
        YES("destructor bare"); int k = bare; bare = k + 1; END;
    }
};
static thread_local Local local;
int main() {
    for (int round = 0; round < 2; round++) {
        std::vector<std::thread> all;
        for (int i = 0; i < 2; i++) all.emplace_back([i] { local.own.assign(3 + i, i); });
        for (auto &one : all) one.join();
        NO("after the joins"); held = held + bare; END;
    }
}
