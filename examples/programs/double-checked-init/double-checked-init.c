/*
 * Double-checked initialisation (Meyers and Alexandrescu, "C++ and the Perils of Double-Checked Locking", 2004), with
 * the flag set too early: the settings are announced before they are complete. A thread that comes in
 * between runs with a value that is about to be replaced.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#if __has_include(<foretrace.h>)
#include <foretrace.h>
#else
#define FORETRACE_ATOMIC_BEGIN(label)
#define FORETRACE_ATOMIC_END(label)
#endif

static struct {
    pthread_mutex_t lock;
    atomic_bool ready;
    long timeout;
} settings = {.lock = PTHREAD_MUTEX_INITIALIZER};

static long configured = 90;

static void initialise(void)
{
    FORETRACE_ATOMIC_BEGIN("initialise");
#ifndef FIXED
    settings.ready = true;
#endif
    settings.timeout = 30; /* @first */
    if (configured > 0)
        settings.timeout = configured; /* @second */
#ifdef FIXED
    settings.ready = true;
#endif
    FORETRACE_ATOMIC_END("initialise");
}

static long get_timeout(void)
{
    if (!settings.ready) {
        pthread_mutex_lock(&settings.lock);
        if (!settings.ready)
            initialise();
        pthread_mutex_unlock(&settings.lock);
    }
    return settings.timeout; /* @remote */
}

static void *serve(void *timeout)
{
    *(long *)timeout = get_timeout();
    return NULL;
}

/* The second request comes a little later, by the time that a thread takes to start. */
static void *serve_later(void *timeout)
{
    pthread_t thread;
    pthread_create(&thread, NULL, serve, timeout);
    pthread_join(thread, NULL);
    return NULL;
}

int main(void)
{
    long timeouts[2];
    pthread_t first, second;
    pthread_create(&first, NULL, serve, &timeouts[0]);
    pthread_create(&second, NULL, serve_later, &timeouts[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);

    printf("timeouts %ld and %ld, expected %ld\n", timeouts[0], timeouts[1], configured);
    return timeouts[0] == configured && timeouts[1] == configured ? 0 : 1;
}
