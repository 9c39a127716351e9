// Java's StringBuffer.append(StringBuffer) up to JDK 1.4 (Flanagan and Freund, "Atomizer", POPL 2004): it asks the
// other buffer for its length and then for that many characters, and holds only its own lock. If the other
// buffer is shortened in between, it has not got them.
#include <cstddef>
#include <cstring>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <thread>

#if __has_include(<foretrace.h>)
#include <foretrace.h>
#else
#define FORETRACE_ATOMIC_BEGIN(label)
#define FORETRACE_ATOMIC_END(label)
#endif

class StringBuffer {
public:
    explicit StringBuffer(const char *string) : count(std::strlen(string)) { std::memcpy(text, string, count); }

    std::size_t length() const
    {
        std::lock_guard<std::recursive_mutex> guard(monitor);
        return count; // @first
    }

    void copy_to(char *to, std::size_t wanted) const
    {
        std::lock_guard<std::recursive_mutex> guard(monitor);
        if (wanted > count) // @second
            throw std::out_of_range("StringBuffer::copy_to");
        std::memcpy(to, text, wanted);
    }

    void set_length(std::size_t length)
    {
        std::lock_guard<std::recursive_mutex> guard(monitor);
        count = length; // @remote
    }

    void append(const StringBuffer &other)
    {
        std::lock_guard<std::recursive_mutex> guard(monitor);
        FORETRACE_ATOMIC_BEGIN("append");
        append_locked(other);
        FORETRACE_ATOMIC_END("append");
    }

private:
    void append_locked(const StringBuffer &other)
    {
#ifdef FIXED
        std::lock_guard<std::recursive_mutex> guard(other.monitor);
#endif
        std::size_t added = other.length();
        other.copy_to(text + count, added);
        count += added;
    }

    mutable std::recursive_mutex monitor;
    std::size_t count;
    char text[32] = {};
};

static StringBuffer greeting("hello, ");
static StringBuffer name("world");

// The name is erased a little later, by the time that a thread takes to start.
static void erase_later()
{
    std::thread eraser([] { name.set_length(0); });
    eraser.join();
}

int main()
{
    std::thread appender([] { greeting.append(name); });
    std::thread eraser(erase_later);
    appender.join();
    eraser.join();

    std::cout << greeting.length() << " characters\n";
}
