#include "../programs/t.h"
#include <mutex>
#include <thread>
/* A transfer between two accounts, each with a lock; an audit that adds both up. */
struct Account { std::mutex m; long balance; };
static Account from{{}, 100}, to{{}, 50}; static long total;
static void transfer() {
    YES("transfer");
    from.m.lock(); from.balance -= 30;
#ifndef RIGHT
    from.m.unlock();
#endif
    to.m.lock(); to.balance += 30; to.m.unlock();
#ifdef RIGHT
    from.m.unlock();
#endif
    END;
}
static void audit() {
    std::scoped_lock both(from.m, to.m);
    total = from.balance + to.balance;
}
int main() { std::thread a(transfer), b(audit); a.join(); b.join(); return total != 150; }
