// A struct that is passed by value is copied by the call itself: the copy reads shared memory, and what is made of it depends on it.
#include "t.h"
#include <stdarg.h>
struct record { int count[6]; double weight; };
struct small { int a, b; };
static struct record shared, guarded;
static struct small pair;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int seen[2];
static struct record added(struct record r, int n) {
    r.count[n] += n;
    r.weight = n;
    return r;
}
static int sum(struct record r) { return r.count[0] + r.count[1] + r.count[2] + r.count[3]; }
static int both(struct small s) { return s.a + s.b; }
static int all(int n, ...) {
    va_list list;
    va_start(list, n);
    struct record r = va_arg(list, struct record);
    va_end(list);
    return sum(r);
}
T(work) {
    int n = (int)(intptr_t)arg;
    YES("read by a call, then written");
    shared = added(shared, n);
    END;
    LOCK;
    NO("the same below a lock");
    guarded = added(guarded, n);
    END;
    UNLOCK;
    YES("read by two calls");
    seen[n - 1] = sum(shared);
    seen[n - 1] += sum(shared);
    END;
    YES("read as one of a variable number");
    seen[n - 1] += all(1, shared);
    seen[n - 1] += all(1, shared);
    END;
    LOCK;
    NO("read by two calls below a lock");
    seen[n - 1] += sum(guarded) > 3 ? sum(guarded) : 1;
    END;
    UNLOCK;
    YES("in registers");
    pair.a = both(pair) + n;
    END;
    return 0;
}
int main() {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) GO(t[i], work, i + 1);
    for (int i = 0; i < 2; i++) JOIN(t[i]);
    printf("%d\n", sum(guarded));
}
