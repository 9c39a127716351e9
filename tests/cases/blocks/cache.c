/* A cache with a map and a count of what is in it, each under its lock. */
#include "../programs/t.h"
static pthread_mutex_t of_map = PTHREAD_MUTEX_INITIALIZER, of_count = PTHREAD_MUTEX_INITIALIZER;
static int map[8], count, entry, entries;
T(put) {
    YES("put");
    pthread_mutex_lock(&of_map);
    map[3] = 42;
#ifndef RIGHT
    pthread_mutex_unlock(&of_map);
#endif
    pthread_mutex_lock(&of_count);
    count = count + 1;
    pthread_mutex_unlock(&of_count);
#ifdef RIGHT
    pthread_mutex_unlock(&of_map);
#endif
    END;
    return 0;
}
T(evict) {
    pthread_mutex_lock(&of_map);
    entry = map[3];
    pthread_mutex_lock(&of_count);
    entries = count;
    pthread_mutex_unlock(&of_count);
    pthread_mutex_unlock(&of_map);
    return 0;
}
int main(void) { pthread_t a, b; GO(a, put, 0); GO(b, evict, 0); JOIN(a); JOIN(b); return entry != 0 && entries == 0; }
