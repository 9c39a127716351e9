/* Waits by poll for two seconds as a clock shows them. Who should end the wait looks once whether it is wanted, and may come too early. */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static int ends[2], wanted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void *wakes(void *none)
{
    pthread_mutex_lock(&lock);
    int is_wanted = wanted;
    pthread_mutex_unlock(&lock);
    if (is_wanted && write(ends[1], "x", 1) != 1)
        _exit(2);
    return none;
}

int main(void)
{
    pthread_t thread;
    if (pipe(ends))
        return 2;
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    pthread_create(&thread, NULL, wakes, NULL);
    pthread_mutex_lock(&lock);
    wanted = 1;
    pthread_mutex_unlock(&lock);
    int found = 0;
    for (long until = now() + 2000, left = 2000; !found && left > 0; left = until - now())
        found = poll(&end, 1, left);
    pthread_join(thread, NULL);
    assert(found == 1);
    return 0;
}
