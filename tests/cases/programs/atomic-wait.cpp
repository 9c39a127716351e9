// atomic wait and notify, atomic_flag, atomic_ref: what is published comes before who saw it; two updates are no one.
#include "t.hpp"
static std::atomic<int> ready{0};
static std::atomic_flag flag;
static int data, more, late;
static int counter, plain, gate, behind;
int main() {
    std::thread a([] {
        data = 1;
        data = 2;
        ready.store(1);
        ready.notify_one();
        late = 1;
        late = 2;
        more = 1;
        more = 2;
        flag.test_and_set();
        flag.notify_all();
        behind = 1;
        behind = 2;
        std::atomic_ref<int>(gate).store(1);
        std::atomic_ref<int> ref(counter);
        ref.fetch_add(1);
        plain = plain + 1;
    });
    std::thread b([] {
        ready.wait(0);
        NO("after the wait");
        int r = data;
        r += data;
        END;
        YES("written after the notification");
        r += late;
        r += late;
        END;
        flag.wait(false);
        NO("after the flag");
        r += more;
        r += more;
        END;
        std::atomic_ref<int> open(gate);
        while (open.load() == 0) std::this_thread::yield();
        NO("after a store by an atomic_ref");
        r += behind;
        r += behind;
        END;
        std::atomic_ref<int> ref(counter);
        YES("load and store of an atomic_ref");
        int seen = ref.load();
        ref.store(seen + 1);
        END;
        YES("an int without an atomic_ref");
        plain = plain + 1;
        END;
    });
    a.join();
    b.join();
    printf("%d\n", data);
}
