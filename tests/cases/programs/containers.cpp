#include "t.hpp"
#include <list>
#include <map>
#include <set>
#include <sstream>
#include <string>
// What libstdc++ does inside of its shared library to trees, lists, strings and streams into strings.
static std::mutex m;
static std::map<int, int> bare, held;
static std::set<int> numbers;
static std::list<int> queue, kept;
static std::string text, guarded;
static std::wstring wide, wide_guarded;
static std::ostringstream written, written_guarded;

static void work(int id) {
    YES("two uses of a map"); if (!bare.count(7)) bare[id] = id; END;
    YES("a list without a lock"); queue.push_back(id); END;
    YES("a text without a lock"); text += "ab"; END;
    YES("a wide text without a lock"); wide += L"ab"; END;
    YES("a stream into a string without a lock"); written << id << ' '; END;
    m.lock();
    NO("a map under a lock"); held[id] = id; held.erase(id - 1); END;
    NO("a set under a lock"); numbers.insert(id); for (int number : numbers) if (number == 5) numbers.clear(); END;
    NO("a list under a lock"); kept.push_front(id); kept.splice(kept.end(), kept, kept.begin()); kept.reverse(); END;
    NO("a text under a lock"); guarded.append("cd"); guarded.insert(0, "e"); END;
    NO("a wide text under a lock"); wide_guarded.append(L"cd"); wide_guarded.insert(0, L"e"); END;
    NO("a stream into a string under a lock"); written_guarded << id << ' '; END;
    m.unlock();
}

int main() {
    text.reserve(64);
    wide.reserve(64);
    written << "abcdefgh";
    std::thread one(work, 1), two(work, 2);
    one.join();
    two.join();
    NO("after the joins"); held[3] = 3; kept.clear(); guarded.clear(); held.clear(); END;
    std::printf("%zu\n", numbers.size());
}
