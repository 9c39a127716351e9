/*
 * Apache httpd bug 25520: mod_log_config buffers the lines of its log without a lock. A request reads where the
 * buffer ends, to copy its line there, and moves the end: two that do so at once write over each other.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#if __has_include(<foretrace.h>)
#include <foretrace.h>
#else
#define FORETRACE_ATOMIC_BEGIN(label)
#define FORETRACE_ATOMIC_END(label)
#endif

static struct {
    pthread_mutex_t lock; /* only the repaired program uses it */
    size_t used;
    char text[64];
} buffer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void flush_buffer(void)
{
    fwrite(buffer.text, 1, buffer.used, stdout);
    buffer.used = 0;
}

static void write_line(const char *line)
{
    size_t length = strlen(line);
    FORETRACE_ATOMIC_BEGIN("write_line");
#ifdef FIXED
    pthread_mutex_lock(&buffer.lock);
#endif
    if (buffer.used + length > sizeof buffer.text)
        flush_buffer();
    char *end = buffer.text + buffer.used; /* @first */
    buffer.used += length; /* @remote @second */
    memcpy(end, line, length);
#ifdef FIXED
    pthread_mutex_unlock(&buffer.lock);
#endif
    FORETRACE_ATOMIC_END("write_line");
}

static void *serve(void *request)
{
    write_line(request);
    return NULL;
}

/* Whether the buffer holds the first line and then the other two, in either order. */
static bool is_whole(const char *first, const char *one, const char *other)
{
    char in_order[sizeof buffer.text], swapped[sizeof buffer.text];
    size_t length = (size_t)snprintf(in_order, sizeof in_order, "%s%s%s", first, one, other);
    snprintf(swapped, sizeof swapped, "%s%s%s", first, other, one);
    return buffer.used == length
        && (memcmp(buffer.text, in_order, length) == 0 || memcmp(buffer.text, swapped, length) == 0);
}

/* The second request comes a little later, by the time that a thread takes to start. */
static void *serve_later(void *request)
{
    pthread_t thread;
    pthread_create(&thread, NULL, serve, request);
    pthread_join(thread, NULL);
    return NULL;
}

int main(void)
{
    char started[] = "server started\n", one[] = "GET /index.html 200\n", other[] = "GET /logo.png 304\n";
    pthread_t first, second;
    write_line(started);
    pthread_create(&first, NULL, serve, one);
    pthread_create(&second, NULL, serve_later, other);
    pthread_join(first, NULL);
    pthread_join(second, NULL);

    bool whole = is_whole(started, one, other);
    flush_buffer();
    if (!whole)
        fputs("the log is garbled\n", stderr);
    return whole ? 0 : 1;
}
