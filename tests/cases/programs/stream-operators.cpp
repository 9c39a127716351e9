#include "t.h"
#include <iomanip>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
// Streams of C++ read what they print and write what they are asked for, inside of the library.
static std::string name = "guest", own = "guest";
static char chars[16] = "guest", word[8];
static int number, kept;
static std::mutex lock;
static volatile long sink;
int main() {
    std::thread a([] {
        std::ostringstream out;
        { YES("a string that is printed twice"); out << name; out << name; END; }
        { NO("a string that is printed under a lock"); std::lock_guard guard(lock); out << own << own; END; }
        { YES("a text that is printed twice"); out << chars; out.write(chars, 5); END; }
        { YES("a number that is extracted"); sink += number; sink += number; END; }
        { NO("a number that is extracted under a lock"); std::lock_guard guard(lock); sink += kept; sink += kept; END; }
        { YES("a word that is extracted"); sink += word[0]; sink += word[0]; END; }
    });
    std::thread b([] {
        usleep(1000); // what comes later pins what was read before, so the other thread goes first
        name = "admin";
        chars[0] = 'b';
        std::istringstream("42") >> number;
        { std::lock_guard guard(lock); own = "admin"; std::istringstream("42") >> kept; }
        std::istringstream("abc def") >> std::setw(8) >> word;
    });
    a.join();
    b.join();
}
