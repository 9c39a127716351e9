/*
 * Check, then act: a worker asks whether there is a job, and then takes one. Each step is under the lock, but in
 * between another worker may take the last job. Handling a job may add another, so that usually there is one for
 * each worker.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#if __has_include(<foretrace.h>)
#include <foretrace.h>
#else
#define FORETRACE_ATOMIC_BEGIN(label)
#define FORETRACE_ATOMIC_END(label)
#endif

enum job { FETCH, STORE };

static struct {
    pthread_mutex_t lock;
    pthread_mutex_t taking; /* only the repaired program uses it */
    int length;
    enum job jobs[4];
    int handled;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .taking = PTHREAD_MUTEX_INITIALIZER};

static void push(enum job job)
{
    pthread_mutex_lock(&queue.lock);
    queue.jobs[queue.length] = job;
    queue.length++;
    pthread_mutex_unlock(&queue.lock);
}

static bool is_empty(void)
{
    pthread_mutex_lock(&queue.lock);
    int length = queue.length; /* @first */
    pthread_mutex_unlock(&queue.lock);
    return length == 0;
}

static enum job pop(void)
{
    pthread_mutex_lock(&queue.lock);
    int length = queue.length; /* @second */
    assert(length > 0);
    enum job job = queue.jobs[length - 1];
    queue.length = length - 1; /* @remote */
    pthread_mutex_unlock(&queue.lock);
    return job;
}

static bool take(enum job *job)
{
    FORETRACE_ATOMIC_BEGIN("take");
#ifdef FIXED
    pthread_mutex_lock(&queue.taking);
#endif
    bool found = !is_empty();
    if (found)
        *job = pop();
#ifdef FIXED
    pthread_mutex_unlock(&queue.taking);
#endif
    FORETRACE_ATOMIC_END("take");
    return found;
}

static void handle(enum job job)
{
    if (job == FETCH)
        push(STORE);
    pthread_mutex_lock(&queue.lock);
    queue.handled++;
    pthread_mutex_unlock(&queue.lock);
}

static void *worker(void *unused)
{
    enum job job;
    if (take(&job))
        handle(job);
    return unused;
}

/* The second worker comes a little later, by the time that a thread takes to start. */
static void *work_later(void *unused)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, unused);
    pthread_join(thread, NULL);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    push(FETCH);
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, work_later, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);

    enum job job;
    while (take(&job))
        handle(job);
    printf("%d jobs handled\n", queue.handled);
    return queue.handled == 2 ? 0 : 1;
}
