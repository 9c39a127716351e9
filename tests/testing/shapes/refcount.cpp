// A count of references that two threads bring to zero.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

struct Obj {
    std::atomic<int> refs{1};
    bool dead = false;
};

static Obj o;
static std::atomic<Obj *> cur{&o};

static void release(Obj *p) {
    if (p->refs.fetch_sub(1) == 1)
        p->dead = true;
}

static void reader() {
    Obj *p = cur.load();
    if (!p)
        return;
    p->refs.fetch_add(1);
    if (p->dead) {
        std::fprintf(stderr, "dead object\n");
        std::abort();
    }
    release(p);
}

static void owner() {
    Obj *p = cur.exchange(nullptr);
    release(p);
}

int main() {
    std::thread a(reader), b(owner);
    a.join();
    b.join();
}
