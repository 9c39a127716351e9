// A thread's own memory is freed when the thread ends; another one that has its address may come later.
#include <atomic>
#include <thread>

static std::atomic<int *> shown;
static thread_local struct owner {
    int *number = nullptr;
    ~owner() { delete number; }
} mine;

int main()
{
    std::thread shower([] {
        shown = mine.number = new int(1);
        for (int i = 0; i < 40; i++) shown.load();
    });
    std::thread user([] {
        int *number = shown;
        if (number) ++*number;
    });
    user.join();
    shower.join();
}
