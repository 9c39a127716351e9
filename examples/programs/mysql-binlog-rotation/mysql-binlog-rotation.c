/*
 * MySQL bug 791: to rotate the binary log, the server closes it and opens the next one. A thread that asks in
 * between whether the log is open is told that there is none, so it does not log its change, which is
 * then missing wherever the log is replayed.
 */
#include <pthread.h>
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
    pthread_rwlock_t rotation; /* only the repaired program uses it */
    bool is_open;
    int file;
    int events;
} binlog = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER, true, 1, 0};

static void close_log(void)
{
    pthread_mutex_lock(&binlog.lock);
    binlog.is_open = false; /* @first */
    pthread_mutex_unlock(&binlog.lock);
}

static void open_next_log(void)
{
    pthread_mutex_lock(&binlog.lock);
    binlog.file++;
    binlog.is_open = true; /* @second */
    pthread_mutex_unlock(&binlog.lock);
}

static bool is_log_open(void)
{
    pthread_mutex_lock(&binlog.lock);
    bool is_open = binlog.is_open; /* @remote */
    pthread_mutex_unlock(&binlog.lock);
    return is_open;
}

static void append_event(void)
{
    pthread_mutex_lock(&binlog.lock);
    binlog.events++;
    pthread_mutex_unlock(&binlog.lock);
}

static void *rotate(void *unused)
{
    FORETRACE_ATOMIC_BEGIN("rotate");
#ifdef FIXED
    pthread_rwlock_wrlock(&binlog.rotation);
#endif
    close_log();
    open_next_log();
#ifdef FIXED
    pthread_rwlock_unlock(&binlog.rotation);
#endif
    FORETRACE_ATOMIC_END("rotate");
    return unused;
}

static void *insert_row(void *unused)
{
    FORETRACE_ATOMIC_BEGIN("insert_row");
#ifdef FIXED
    pthread_rwlock_rdlock(&binlog.rotation);
#endif
    if (is_log_open())
        append_event();
#ifdef FIXED
    pthread_rwlock_unlock(&binlog.rotation);
#endif
    FORETRACE_ATOMIC_END("insert_row");
    return unused;
}

/* The row comes a little later, by the time that a thread takes to start. */
static void *insert_later(void *unused)
{
    pthread_t thread;
    pthread_create(&thread, NULL, insert_row, unused);
    pthread_join(thread, NULL);
    return NULL;
}

int main(void)
{
    pthread_t rotation, client;
    pthread_create(&rotation, NULL, rotate, NULL);
    pthread_create(&client, NULL, insert_later, NULL);
    pthread_join(rotation, NULL);
    pthread_join(client, NULL);

    printf("1 row inserted, %d in the log\n", binlog.events);
    return binlog.events == 1 ? 0 : 1;
}
