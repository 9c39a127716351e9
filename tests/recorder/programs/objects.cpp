// A store in the library's containers: members of the program's own classes have their names, wherever the containers put them.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace shop {
struct Item {
    std::string name;
    long stock = 10;
};

class Store {
    std::mutex guard_;
    std::map<std::string, Item> items_;
    std::vector<Item> list_ = std::vector<Item>(3);
    long sales_ = 0;

public:
    Store() { items_["pen"].stock = 5; }
    void sell(const std::string &what)
    {
        std::lock_guard<std::mutex> lock(guard_);
        items_[what].stock--;
        list_[1].stock--;
        sales_++;
    }
    long sales() const { return sales_; }
};
} // namespace shop

int main()
{
    auto store = std::make_shared<shop::Store>();
    std::thread first([store] { store->sell("pen"); });
    std::thread second([store] { store->sell("pen"); });
    first.join();
    second.join();
    return store->sales() == 2 ? 0 : 1;
}
