/* The other thread moves an index and counts, in one critical section. Where that comes between the two sections here, the second one looks
 * at another element, whose place the trace has pinned: the schedule is proved up to the remote access alone. The program goes on. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int limits[64];
static int place;
static int count;

static void *check(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    int before = count;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    int limit = limits[place];
    int after = count;
    pthread_mutex_unlock(&lock);
    return before == after && limit == 0 ? NULL : &count;
}

static void *change(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    place = 40;
    count = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t checker, changer;
    void *torn;
    pthread_create(&checker, NULL, check, NULL);
    pthread_create(&changer, NULL, change, NULL);
    pthread_join(checker, &torn);
    pthread_join(changer, NULL);
    printf("%s\n", torn ? "torn" : "whole");
    return torn != NULL;
}
