// A map as a binary search tree with a lock in each node. A removed key keeps its node; the value 0 says that it is not there.
#include "client.hpp"

#include <atomic>
#include <mutex>

struct Node {
    int key;
    std::atomic<int> value;
    std::atomic<Node *> left{nullptr};
    std::atomic<Node *> right{nullptr};
    std::mutex lock;

    Node(int key, int value) : key(key), value(value) {}

    std::atomic<Node *> &child(int wanted) { return wanted < key ? left : right; }
};

class Map {
    Node root{4, 0};

    Node *find(int key) {
        Node *at = &root;
        while (at != nullptr && at->key != key) at = at->child(key);
        return at;
    }

  public:
    [[gnu::noinline]] bool put_if_absent(int key, int value) {
        Node *at = &root;
        while (at->key != key) {
            std::unique_lock<std::mutex> hold(at->lock, std::defer_lock);
            if (!SHRUNK_ADD) hold.lock();
            Node *next = at->child(key); // put_if_absent: first
            if (next == nullptr) {
                if (SHRUNK_ADD) hold.lock();
                at->child(key) = new Node(key, value); // put_if_absent: last
                return true;
            }
            at = next;
        }
        std::lock_guard<std::mutex> hold(at->lock);
        int old = at->value;
        if (old == 0) at->value = value;
        return old == 0;
    }

    [[gnu::noinline]] int remove(int key) {
        Node *at = find(key);
        if (at == nullptr) return 0;
        std::unique_lock<std::mutex> hold(at->lock, std::defer_lock);
        if (!SHRUNK_REMOVE) hold.lock();
        int old = at->value; // remove: first
        if (SHRUNK_REMOVE) hold.lock();
        at->value = 0; // remove: last
        return old;
    }

    [[gnu::noinline]] int get(int key) {
        Node *at = find(key);
        return at == nullptr ? 0 : static_cast<int>(at->value);
    }
};

int main() {
    Map map;
    auto perform = [&map](const Call &call) -> int {
        switch (call.method) {
        case Method::add: return map.put_if_absent(call.key, call.value);
        case Method::remove: return map.remove(call.key);
        default: return map.get(call.key);
        }
    };
    Call four{Method::add, 4, 40};
    if (SHRUNK_ADD && SHRUNK_REMOVE)
        return run(perform, four, {{Method::add, 2, 20}, {Method::remove, 4}},
                   {{Method::add, 1, 10}, {Method::remove, 4}, {Method::get, 1}});
    if (SHRUNK_REMOVE) return run(perform, four, {{Method::remove, 4}}, {{Method::remove, 4}});
    return run(perform, four, {{Method::add, 2, 20}, {Method::get, 2}}, {{Method::add, 1, 10}});
}
