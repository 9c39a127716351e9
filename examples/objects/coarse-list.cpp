// A set as a sorted list, with one reader-writer lock for all of it.
#include "client.hpp"

#include <atomic>
#include <mutex>
#include <shared_mutex>

struct Node {
    int key;
    std::atomic<Node *> next;
};

class Set {
    Node tail{9, nullptr};
    Node head{0, &tail};
    std::shared_mutex lock;

  public:
    [[gnu::noinline]] bool add(int key) {
        std::unique_lock<std::shared_mutex> hold(lock, std::defer_lock);
        if (!SHRUNK_ADD) hold.lock();
        Node *before = &head;
        Node *at = before->next; // add: first
        while (at->key < key) {
            before = at;
            at = at->next;
        }
        if (at->key == key) return false;
        if (SHRUNK_ADD) hold.lock();
        before->next = new Node{key, at}; // add: last
        return true;
    }

    [[gnu::noinline]] bool remove(int key) {
        std::unique_lock<std::shared_mutex> hold(lock, std::defer_lock);
        if (!SHRUNK_REMOVE) hold.lock();
        Node *before = &head;
        Node *at = before->next; // remove: first
        while (at->key < key) {
            before = at;
            at = at->next;
        }
        if (at->key != key) return false;
        if (SHRUNK_REMOVE) hold.lock();
        Node *after = at->next;
        before->next = after; // remove: last
        return true;
    }

    [[gnu::noinline]] bool contains(int key) {
        std::shared_lock<std::shared_mutex> hold(lock);
        Node *at = head.next;
        while (at->key < key) at = at->next;
        return at->key == key;
    }
};

int main() {
    Set set;
    auto perform = [&set](const Call &call) -> int {
        switch (call.method) {
        case Method::add: return set.add(call.key);
        case Method::remove: return set.remove(call.key);
        default: return set.contains(call.key);
        }
    };
    Call three{Method::add, 3};
    if (SHRUNK_ADD && SHRUNK_REMOVE)
        return run(perform, three, {{Method::add, 2}, {Method::get, 2}}, {{Method::remove, 3}, {Method::get, 3}});
    if (SHRUNK_REMOVE) return run(perform, three, {{Method::remove, 3}}, {{Method::add, 2}, {Method::get, 2}});
    return run(perform, three, {{Method::add, 2}, {Method::get, 2}}, {{Method::add, 1}});
}
