// The same for what C++ adds: merged functions, exceptions through plain frames, virtual calls, static objects.
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" __attribute__((weak)) void stub_mode(int mode);
static void mode(int wanted) { if (stub_mode) stub_mode(wanted); }

template <class T> T &counter() { static T count = 40; return count; }
inline int shared = 7;
static thread_local std::string kept = "kept";

struct Shape {
    Shape() { counter<int>()++; }
    virtual ~Shape() { counter<int>()--; }
    virtual int area() const = 0;
};
struct Square : Shape {
    explicit Square(int side) : side(side) {}
    int area() const override { if (side < 0) throw std::out_of_range("side " + std::to_string(side)); return side * side; }
    int side;
};
struct Rectangle : Square {
    Rectangle(int side, int other) : Square(side), other(other) {}
    int area() const override { return side * other; }
    int other;
};
struct Guard {
    explicit Guard(int &places) : places(places) { places++; }
    ~Guard() { places--; shared++; }
    int &places;
};
static int depth;
__attribute__((noinline)) int dive(int n, const Shape &shape) {
    Guard guard(depth);
    return n ? dive(n - 1, shape) + 1 : shape.area();
}
int caught(int n, const Shape &shape) {
    try {
        return dive(n, shape);
    } catch (const std::out_of_range &problem) {
        kept += problem.what();
        return depth - 1;
    }
}
static void round_of(int n) {
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = -1; i < 3; i++) shapes.emplace_back(i % 2 ? static_cast<Shape *>(new Square(i)) : new Rectangle(i, n));
    std::map<std::string, int> areas;
    for (auto &shape : shapes) areas["at" + std::to_string(areas.size())] = caught(n, *shape);
    for (auto &entry : areas) std::printf("%s=%d ", entry.first.c_str(), entry.second);
    std::printf("%d %d %s %ld\n", counter<int>(), shared, kept.c_str(), counter<long>()++);
}
static std::string early = "early" + std::to_string(counter<int>());

int main() {
    std::printf("%s\n", early.c_str());
    round_of(2);
    mode(0);
    round_of(3);
    mode(2);
    round_of(4);
    mode(0);
    round_of(5);
}
