// C++: exceptions through several frames, virtual calls, guards of statics, templates, lambdas, containers.
#include <atomic>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Shape {
    virtual ~Shape() { std::printf("~Shape "); }
    virtual double area() const = 0;
};
struct Square : Shape {
    double side;
    explicit Square(double s) : side(s) {}
    double area() const override { return side * side; }
};
struct Named { std::string name; virtual std::string text() { return name; } };
struct Both : Square, Named {
    Both(double s, std::string n) : Square(s) { name = std::move(n); }
    std::string text() override { return "both " + name; }
};
namespace bank {
class Account {
    std::mutex mutex_;
    int balance_ = 0;
public:
    void deposit(int amount) { std::lock_guard<std::mutex> guard(mutex_); if (amount < 0) throw std::invalid_argument("negative"); balance_ += amount; }
    int balance() const { return balance_; }
};
}
struct Noisy { int n; ~Noisy() { std::printf("~%d ", n); } };

static int counter() { static Noisy noisy{1}; static int calls = noisy.n; return ++calls; }
static void thrower(int n) { Noisy noisy{n}; if (n == 0) throw n; if (n == 7) throw std::runtime_error("seven"); thrower(n - 1); }
static int catcher(int n) {
    try { thrower(n); }
    catch (int value) { return value + 100; }
    catch (const std::exception &error) { std::printf("%s ", error.what()); return -1; }
    return 0;
}
static int rethrow() {
    try { try { thrower(1); } catch (...) { std::printf("again "); throw; } } catch (int) { return 5; }
    return 0;
}
template <typename T> T largest(const std::vector<T> &values) { T best = values[0]; for (const T &value : values) if (best < value) best = value; return best; }
static void quiet() noexcept { }

int main() {
    std::unique_ptr<Shape> shape = std::make_unique<Square>(3);
    std::printf("%g\n", shape->area());
    Both both(2, "name");
    Named &named = both;
    std::printf("%s %d %d\n", named.text().c_str(), counter(), counter());
    std::printf("%d %d %d\n", catcher(3), catcher(9), rethrow());
    bank::Account account;
    account.deposit(5);
    try { account.deposit(-1); } catch (const std::invalid_argument &) { std::printf("refused\n"); }
    std::map<std::string, int> counts;
    for (const char *word : {"a", "b", "a"}) counts[word]++;
    std::vector<int> numbers{3, 9, 2};
    int factor = account.balance();
    std::function<int(int)> times = [factor](int x) { return x * factor; };
    std::printf("%d %d %d %s\n", counts["a"], largest(numbers), times(4), largest<std::string>({"x", "yy"}).c_str());
    std::atomic<long> total{0};
    std::thread worker([&] { total += 4; quiet(); });
    worker.join();
    int Both::*none = nullptr; double Square::*member = &Square::side;
    std::printf("%ld %d %g %d\n", total.load(), none == nullptr, both.*member, dynamic_cast<Both *>(&named) != nullptr);
    return 0;
}
