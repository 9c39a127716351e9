#include "t.hpp"
#include <condition_variable>
static int y,z; static bool ok; static std::mutex m; static std::condition_variable c;
int main(){ std::thread t([]{ std::unique_lock<std::mutex> l(m); ok=true; y=1; std::notify_all_at_thread_exit(c,std::move(l)); z=z+1; });
 YES("before wait"); z=z+1; END; { std::unique_lock<std::mutex> l(m); c.wait(l,[]{return ok;}); } NO("after wait"); int v=y; v+=y; END; t.join(); std::printf("%d\n",v); }
