// Arrays whose size is checked for overflow, and arithmetic that tells of one: pairs in registers.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

static std::mutex lock;
static int sum;

static void add(int count)
{
    int *values = new int[count];
    for (int i = 0; i < count; i++) {
        values[i] = i;
    }
    for (int i = 0; i < count; i++) {
        std::lock_guard<std::mutex> hold(lock);
        int more;
        if (__builtin_add_overflow(sum, values[i], &more)) {
            std::abort();
        }
        sum = more;
    }
    delete[] values;
}

int main(int argc, char **)
{
    unsigned product;
    bool over = __builtin_mul_overflow(3000000000u, unsigned(argc + 1), &product);
    std::thread one(add, 2 + argc), two(add, 3);
    one.join();
    two.join();
    std::printf("%d %d %u\n", sum, over, product);
    return 0;
}
