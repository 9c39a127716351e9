/*
 * Apache httpd bug 21287: mod_mem_cache counts down an object's references atomically, but then reads the counter
 * once more to see whether it was the last. If two threads count down before either looks, both see zero and
 * both clean up.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<foretrace.h>)
#include <foretrace.h>
#else
#define FORETRACE_ATOMIC_BEGIN(label)
#define FORETRACE_ATOMIC_END(label)
#endif

static struct {
    atomic_int references;
    _Atomic(char *) body;
} object;

static void clean_up(void)
{
    char *body = atomic_exchange(&object.body, NULL);
    if (body == NULL) {
        fputs("the object is cleaned up twice\n", stderr);
        abort();
    }
    free(body);
}

static void release(void)
{
    FORETRACE_ATOMIC_BEGIN("release");
#ifdef FIXED
    int last = atomic_fetch_sub(&object.references, 1) == 1;
#else
    atomic_fetch_sub(&object.references, 1); /* @first @remote */
    int last = atomic_load(&object.references) == 0; /* @second */
#endif
    FORETRACE_ATOMIC_END("release");
    if (last)
        clean_up();
}

static void *serve(void *unused)
{
    release();
    return unused;
}

/* The second request ends a little later, by the time that a thread takes to start. */
static void *serve_later(void *unused)
{
    pthread_t thread;
    pthread_create(&thread, NULL, serve, unused);
    pthread_join(thread, NULL);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    object.body = strdup("<html></html>");
    object.references = 2;
    pthread_create(&first, NULL, serve, NULL);
    pthread_create(&second, NULL, serve_later, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);

    puts(object.body == NULL ? "cleaned up" : "left over");
    return object.body == NULL ? 0 : 1;
}
