/* A loop waits for posts by an eventfd, or by a pipe. It says that it sleeps only after it has looked for posts: one between waits for ever. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { POSTS = 4 };

static int wake, wakes;
static atomic_int posted, awake;

static void *loop(void *unused)
{
    for (int done = 0; done < POSTS;) {
        struct pollfd poll_wake = { .fd = wake, .events = POLLIN };
        uint64_t counts[8];
        poll(&poll_wake, 1, -1);
        read(wake, counts, sizeof counts);
        done = atomic_load(&posted);
        atomic_store(&awake, 0);
    }
    return unused;
}

static void *post(void *unused)
{
    uint64_t one = 1;
    for (int i = 0; i < POSTS / 2; i++) {
        atomic_fetch_add(&posted, 1);
        if (!atomic_exchange(&awake, 1))
            write(wakes, &one, sizeof one);
    }
    return unused;
}

int main(void)
{
    pthread_t looping, posting[2];
#ifdef PIPE
    int ends[2];
    pipe(ends);
    wake = ends[0];
    wakes = ends[1];
#else
    wake = wakes = eventfd(0, EFD_CLOEXEC);
#endif
    pthread_create(&looping, NULL, loop, NULL);
    pthread_create(&posting[0], NULL, post, NULL);
    pthread_create(&posting[1], NULL, post, NULL);
    pthread_join(posting[0], NULL);
    pthread_join(posting[1], NULL);
    pthread_join(looping, NULL);
    return 0;
}
