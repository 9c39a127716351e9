#include "t.hpp"
#include <future>
#include <condition_variable>
static int y,z;
int main(){ std::promise<int> p; auto f=p.get_future(); std::thread t([&]{ y=1; p.set_value_at_thread_exit(2); z=z+1; });
 YES("before get"); z=z+1; END; int v=f.get(); NO("after get"); v+=y; v+=y; END; t.join(); std::printf("%d\n",v); }
