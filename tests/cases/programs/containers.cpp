#include "t.hpp"
#include <list>
#include <map>
#include <set>
#include <string>
// What libstdc++ does inside of its shared library to trees, lists and strings.
static std::mutex m;
static std::map<int, int> bare, held;
static std::set<int> numbers;
static std::list<int> queue, kept;
static std::string text, guarded;

static void work(int id) {
    YES("two uses of a map"); if (!bare.count(7)) bare[id] = id; END;
    YES("a list without a lock"); queue.push_back(id); END;
    YES("a text without a lock"); text += "ab"; END;
    m.lock();
    NO("a map under a lock"); held[id] = id; held.erase(id - 1); END;
    NO("a set under a lock"); numbers.insert(id); for (int number : numbers) if (number == 5) numbers.clear(); END;
    NO("a list under a lock"); kept.push_front(id); kept.splice(kept.end(), kept, kept.begin()); kept.reverse(); END;
    NO("a text under a lock"); guarded.append("cd"); guarded.insert(0, "e"); END;
    m.unlock();
}

int main() {
    text.reserve(64);
    std::thread one(work, 1), two(work, 2);
    one.join();
    two.join();
    NO("after the joins"); held[3] = 3; kept.clear(); guarded.clear(); held.clear(); END;
    std::printf("%zu\n", numbers.size());
}
