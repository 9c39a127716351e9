#include "t.hpp"
using namespace std::chrono_literals;
static int y,z; static std::recursive_timed_mutex m;
static void f(){ m.lock(); if(m.try_lock_for(1s)){ NO("twice"); y=y+1; END; m.unlock(); } NO("once"); y=y+1; END; m.unlock(); YES("none"); z=z+1; END; }
int main(){ std::thread a(f),b(f); a.join(); b.join(); std::printf("%d\n",y); }
