#include "t.hpp"
#include <condition_variable>
#include <stop_token>
static int y,z; static std::mutex m; static std::condition_variable_any c;
int main(){ std::jthread t([](std::stop_token s){ YES("before"); z=z+1; END; std::unique_lock l(m); bool r=c.wait(l,s,[]{return false;}); l.unlock(); if(!r){ NO("after stop"); int u=y; u+=y; END; y=u; } });
 y=1; z=2; t.request_stop(); t.join(); NO("after join"); y=y+1; END; std::printf("%d\n",y); }
