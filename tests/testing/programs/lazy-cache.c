/* A cache that is filled when it is first asked: whether an entry is there is looked up under the lock, and so is the entry put in,
   but not in one critical section. So two threads load the same entry, and one of the two loads is lost. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SLOTS 8

struct entry {
    int key;
    int uses;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *slots[SLOTS];

static struct entry *lookup(int key)
{
    pthread_mutex_lock(&lock);
    struct entry *found = slots[key % SLOTS];
    pthread_mutex_unlock(&lock);
    return found;
}

static struct entry *load(int key)
{
    struct entry *entry = malloc(sizeof *entry);
    entry->key = key;
    entry->uses = 0;
    return entry;
}

static struct entry *get(int key)
{
    struct entry *entry = lookup(key);
    if (!entry) {
        entry = load(key);
        pthread_mutex_lock(&lock);
        slots[key % SLOTS] = entry;
        pthread_mutex_unlock(&lock);
    }
    return entry;
}

static void *use(void *argument)
{
    int key = *(int *)argument;
    struct entry *entry = get(key);
    pthread_mutex_lock(&lock);
    entry->uses++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    int keys[3] = {5, 2, 5};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, use, &keys[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("entry 5 was used %d times\n", slots[5]->uses);
    return slots[5]->uses == 2 ? 0 : 1;
}
