#include "t.hpp"
#include <shared_mutex>
using namespace std::chrono_literals;
static int y,z; static std::shared_timed_mutex m;
static void f(){ if(m.try_lock_for(100s)){ NO("exclusive"); y=y+1; END; m.unlock(); } if(m.try_lock_shared_for(100s)){ YES("shared"); z=z+1; END; m.unlock_shared(); } }
int main(){ std::thread a(f),b(f); a.join(); b.join(); std::printf("%d\n",y); }
