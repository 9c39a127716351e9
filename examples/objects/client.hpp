// Clients of a set or a map: one operation by the main thread, then two threads. The program fails if no order of their operations
// gives what they gave.
#pragma once

#include <array>
#include <cstdio>
#include <thread>
#include <vector>

// What is compiled with -DSHRUNK_ADD=1 takes the lock of add too late, and likewise with remove.
#ifndef SHRUNK_ADD
#define SHRUNK_ADD 0
#endif
#ifndef SHRUNK_REMOVE
#define SHRUNK_REMOVE 0
#endif

enum class Method { add, remove, get };

// An operation: its key, the value that it puts there (of a set: 1), what it gave (0: nothing, false).
struct Call {
    Method method;
    int key;
    int value = 1;
    int result = 0;
};

// The values of keys below 8; 0 where there is none.
using Model = std::array<int, 8>;

inline int made(Model &model, const Call &call) {
    int old = model[call.key];
    if (call.method == Method::add) {
        model[call.key] = old != 0 ? old : call.value;
        return old == 0;
    }
    if (call.method == Method::remove) model[call.key] = 0;
    return old;
}

using Calls = std::vector<Call>;

inline bool an_order_fits(const Model &model, const Calls &one, size_t at, const Calls &other, size_t by) {
    if (at == one.size() && by == other.size()) return true;
    Model next = model;
    if (at < one.size() && made(next, one[at]) == one[at].result && an_order_fits(next, one, at + 1, other, by)) return true;
    next = model;
    return by < other.size() && made(next, other[by]) == other[by].result && an_order_fits(next, one, at, other, by + 1);
}

// Runs the operations; `perform` makes one of them and gives what it gave. The exit status: 0 if an order fits.
template <class Perform> int run(Perform perform, Call before, Calls one, Calls other) {
    before.result = perform(before);
    auto all = [&perform](Calls &calls) {
        for (Call &call : calls) call.result = perform(call);
    };
    std::thread first([&] { all(one); });
    std::thread second([&] { all(other); });
    first.join();
    second.join();
    Model model{};
    made(model, before);
    if (an_order_fits(model, one, 0, other, 0)) return 0;
    for (const Calls *calls : {&one, &other})
        for (const Call &call : *calls) std::fprintf(stderr, "%d(%d): %d\n", static_cast<int>(call.method), call.key, call.result);
    return 1;
}
