/*
 * A bounded buffer of one slot whose producers wait correctly for room, but then let go of the lock while they wrap
 * their item up, as that may take long. When two producers have found room, one item is written over the
 * other, and the consumer takes the same item twice.
 */
#include <pthread.h>
#include <stdio.h>

#if __has_include(<foretrace.h>)
#include <foretrace.h>
#else
#define FORETRACE_ATOMIC_BEGIN(label)
#define FORETRACE_ATOMIC_END(label)
#endif

enum { SLOTS = 1, ITEMS = 2 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t not_full, not_empty;
    int count;
    int item;
} buffer = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static int wrap_up(int item)
{
    return item * 10 + 1;
}

/* A wait gives the lock to others, so what comes before one is no part of the transaction. */
static void put(int item)
{
    pthread_mutex_lock(&buffer.lock);
    FORETRACE_ATOMIC_BEGIN("put");
    while (buffer.count == SLOTS) { /* @first */
        FORETRACE_ATOMIC_END("put");
        pthread_cond_wait(&buffer.not_full, &buffer.lock);
        FORETRACE_ATOMIC_BEGIN("put");
    }
#ifndef FIXED
    pthread_mutex_unlock(&buffer.lock);
#endif
    int wrapped = wrap_up(item);
#ifndef FIXED
    pthread_mutex_lock(&buffer.lock);
#endif
    buffer.item = wrapped;
    buffer.count++; /* @remote @second */
    FORETRACE_ATOMIC_END("put");
    pthread_cond_signal(&buffer.not_empty);
    pthread_mutex_unlock(&buffer.lock);
}

static int get(void)
{
    pthread_mutex_lock(&buffer.lock);
    while (buffer.count == 0)
        pthread_cond_wait(&buffer.not_empty, &buffer.lock);
    FORETRACE_ATOMIC_BEGIN("get");
    int item = buffer.item;
    buffer.count--;
    FORETRACE_ATOMIC_END("get");
    pthread_cond_signal(&buffer.not_full);
    pthread_mutex_unlock(&buffer.lock);
    return item;
}

static void *produce(void *item)
{
    put(*(int *)item);
    return NULL;
}

static void *consume(void *sum)
{
    for (int i = 0; i < ITEMS; i++)
        *(int *)sum += get();
    return NULL;
}

/* The second item comes a little later, by the time that a thread takes to start. */
static void *produce_later(void *item)
{
    pthread_t thread;
    pthread_create(&thread, NULL, produce, item);
    pthread_join(thread, NULL);
    return NULL;
}

int main(void)
{
    int one = 1, other = 2, sum = 0;
    pthread_t consumer, first, second;
    pthread_create(&consumer, NULL, consume, &sum);
    pthread_create(&first, NULL, produce, &one);
    pthread_create(&second, NULL, produce_later, &other);
    pthread_join(consumer, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);

    printf("sum %d, expected 32\n", sum);
    return sum == 32 ? 0 : 1;
}
