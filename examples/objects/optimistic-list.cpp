// A set as a sorted list: a search without locks, then the locks of two nodes and a validation; contains takes no lock.
#include "client.hpp"

#include <atomic>
#include <mutex>

struct Node {
    int key;
    std::atomic<Node *> next;
    std::atomic<bool> marked{false};
    std::mutex lock;

    Node(int key, Node *next) : key(key), next(next) {}
};

class Set {
    Node tail{9, nullptr};
    Node head{0, &tail};

  public:
    [[gnu::noinline]] bool add(int key) {
        while (true) {
            Node *before = &head;
            Node *at = before->next;
            while (at->key < key) {
                before = at;
                at = at->next;
            }
            std::unique_lock<std::mutex> first(before->lock, std::defer_lock);
            std::unique_lock<std::mutex> second(at->lock, std::defer_lock);
            if (!SHRUNK_ADD) {
                first.lock();
                second.lock();
            }
            if (before->marked) continue; // add: first
            if (at->marked) continue;
            if (before->next != at) continue;
            if (at->key == key) return false;
            if (SHRUNK_ADD) {
                first.lock();
                second.lock();
            }
            before->next = new Node(key, at); // add: last
            return true;
        }
    }

    [[gnu::noinline]] bool remove(int key) {
        while (true) {
            Node *before = &head;
            Node *at = before->next;
            while (at->key < key) {
                before = at;
                at = at->next;
            }
            std::unique_lock<std::mutex> first(before->lock, std::defer_lock);
            std::unique_lock<std::mutex> second(at->lock, std::defer_lock);
            if (!SHRUNK_REMOVE) {
                first.lock();
                second.lock();
            }
            if (before->marked) continue; // remove: first
            if (at->marked) continue;
            if (before->next != at) continue;
            if (at->key != key) return false;
            if (SHRUNK_REMOVE) {
                first.lock();
                second.lock();
            }
            at->marked = true;
            Node *after = at->next;
            before->next = after; // remove: last
            return true;
        }
    }

    [[gnu::noinline]] bool contains(int key) {
        Node *at = head.next;
        while (at->key < key) at = at->next;
        return at->key == key && !at->marked;
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
        return run(perform, three, {{Method::add, 2}, {Method::get, 2}}, {{Method::add, 1}, {Method::remove, 3}});
    if (SHRUNK_REMOVE) return run(perform, three, {{Method::remove, 3}}, {{Method::add, 2}, {Method::get, 2}});
    return run(perform, three, {{Method::add, 2}, {Method::get, 2}}, {{Method::add, 1}});
}
