#include "t.hpp"
#include <stop_token>
static int y,z;
int main(){ std::stop_source s; std::jthread t([&]{ std::stop_callback c(s.get_token(),[]{ NO("in the callback"); int u=y; u+=y; END; y=u; }); YES("beside"); z=z+1; END; });
 y=1; z=2; s.request_stop(); t.join(); NO("after"); y=y+1; END; std::puts("end"); }
