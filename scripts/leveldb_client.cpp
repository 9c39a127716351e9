// Two threads write, then all is read back.
#include <leveldb/db.h>
#include <string>
#include <thread>

static const int KEYS = 5;

int main() {
    leveldb::DB *database;
    leveldb::Options options;
    options.create_if_missing = true;
    if (!leveldb::DB::Open(options, "data", &database).ok()) return 2;
    auto key = [](int writer, int number) { return std::to_string(writer) + "-" + std::to_string(number); };
    auto write = [&](int writer) {
        for (int number = 0; number < KEYS; number++) database->Put(leveldb::WriteOptions(), key(writer, number), "value");
    };
    std::thread first(write, 1), second(write, 2);
    first.join();
    second.join();
    int lost = 0;
    std::string value;
    for (int writer = 1; writer <= 2; writer++)
        for (int number = 0; number < KEYS; number++)
            lost += !database->Get(leveldb::ReadOptions(), key(writer, number), &value).ok();
    delete database;
    return lost > 0;
}
