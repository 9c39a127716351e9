#include "t.hpp"
#include <atomic>
static int y,z;
static void f(){ NO("fetch_add"); std::atomic_ref<int>(y).fetch_add(1); END; YES("load store"); std::atomic_ref<int> r(z); r.store(r.load()+1); END; }
int main(){ std::thread a(f),b(f); a.join(); b.join(); std::printf("%d\n",y); }
