// jthread, stop_token, stop_callback: what was done before request_stop comes before what sees it.
#include "t.hpp"
#include <stop_token>
static int config, state, calls, late;
int main() {
    {
        std::jthread worker([](std::stop_token stop) {
            while (!stop.stop_requested()) std::this_thread::yield();
            NO("after the request to stop");
            int r = config;
            r += config;
            END;
            YES("written after the request to stop");
            r += late;
            r += late;
            END;
            state = 1;
            state = 2;
        });
        std::stop_callback call(worker.get_stop_token(), [] { calls = calls + 1; });
        config = 1;
        config = 2;
        worker.request_stop();
        late = 1;
        late = 2;
    }
    NO("after the jthread's end");
    int k = state;
    k += state;
    END;
    printf("%d %d\n", k, calls);
}
