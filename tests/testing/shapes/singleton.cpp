// A pointer that is checked outside of the lock.
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

struct Config {
    std::string name;
    int size = 0;

    Config() {
    }
};

static Config *inst;
static std::mutex m;

static Config *get() {
    if (!inst) {
        std::lock_guard g(m);
        if (!inst) {
            inst = new Config;
            inst->name = "main";
            inst->size = 7;
        }
    }
    return inst;
}

static void use() {
    if (get()->size != 7)
        std::abort();
}

int main() {
    std::thread a(use), b(use);
    a.join();
    b.join();
}
