// Threads of std::async end after their result is there; futures are waited for inside of other ones.
#include "t.hpp"
#include <future>
static int x;
static int leaf(int n) { YES("leaf"); int k = x; x = k + n; END; return n; }
static int tree(int n) {
    auto left = std::async(std::launch::async, leaf, n);
    auto right = std::async(std::launch::async, leaf, n + 1);
    return left.get() + right.get();
}
int main() {
    auto root = std::async(std::launch::async, tree, 1);
    int sum = root.get();
    NO("after the results"); x = x + sum; END;
    return sum != 3;
}
