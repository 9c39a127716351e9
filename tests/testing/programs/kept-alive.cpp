// Connections that are kept alive: a request takes one from the table, and the reaper closes those that are idle. A connection is found and
// marked in two critical sections, so the reaper may close it in between. The RIGHT program does both in one.
#include <cassert>
#include <map>
#include <mutex>
#include <thread>

struct Connection {
    bool in_use = false;
    bool open = true;
};

class Table {
    std::mutex lock_;
    std::map<int, Connection *> idle_;

public:
    void keep(int host, Connection *connection) { idle_[host] = connection; }

    Connection *take(int host)
    {
        std::unique_lock<std::mutex> guard(lock_);
        auto found = idle_.find(host);
        if (found == idle_.end()) {
            return nullptr;
        }
        Connection *connection = found->second;
#ifndef RIGHT
        guard.unlock();
        guard.lock();
#endif
        connection->in_use = true;
        return connection;
    }

    void reap()
    {
        std::lock_guard<std::mutex> guard(lock_);
        for (auto at = idle_.begin(); at != idle_.end();) {
            if (at->second->in_use) {
                ++at;
            } else {
                at->second->open = false;
                at = idle_.erase(at);
            }
        }
    }
};

int main()
{
    Table table;
    Connection connection;
    table.keep(1, &connection);
    std::thread reaper([&] { table.reap(); });
    Connection *mine = table.take(1);
    assert(mine == nullptr || mine->open);
    reaper.join();
}
