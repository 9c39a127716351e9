/*
 * A bounded buffer whose producers wait correctly, but let go of the lock while they copy their item to the slot
 * that they chose, as copying may take long. Two producers then choose one slot: an item is lost, and the
 * consumer takes a slot that nobody has filled.
 */
#include <pthread.h>
#include <stdio.h>

#if __has_include(<foretrace.h>)
#include <foretrace.h>
#else
#define FORETRACE_ATOMIC_BEGIN(label)
#define FORETRACE_ATOMIC_END(label)
#endif

enum { SLOTS = 2, ITEMS = 2 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t not_full, not_empty;
    int items[SLOTS];
    int count, in, out;
} buffer = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0, 0};

static void put(int item)
{
    pthread_mutex_lock(&buffer.lock);
    while (buffer.count == SLOTS)
        pthread_cond_wait(&buffer.not_full, &buffer.lock);
    FORETRACE_ATOMIC_BEGIN("put");
    int slot = buffer.in; /* @first */
#ifndef FIXED
    pthread_mutex_unlock(&buffer.lock);
#endif
    buffer.items[slot] = item;
#ifndef FIXED
    pthread_mutex_lock(&buffer.lock);
#endif
    buffer.in = (slot + 1) % SLOTS; /* @remote @second */
    buffer.count++;
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
    int item = buffer.items[buffer.out];
    buffer.out = (buffer.out + 1) % SLOTS;
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
    int one = 11, other = 22, sum = 0;
    pthread_t consumer, first, second;
    pthread_create(&consumer, NULL, consume, &sum);
    pthread_create(&first, NULL, produce, &one);
    pthread_create(&second, NULL, produce_later, &other);
    pthread_join(consumer, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);

    printf("sum %d, expected 33\n", sum);
    return sum == 33 ? 0 : 1;
}
