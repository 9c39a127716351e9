// A worker takes the page of results and writes to it without the lock; the owner unmaps it. The right twin writes under the lock.
#include <pthread.h>
#include <sys/mman.h>

static int *results;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    int *page = results;
#ifndef RIGHT
    pthread_mutex_unlock(&lock);
#endif
    if (page) *page += 1;
#ifdef RIGHT
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static void *end(void *unused) {
    pthread_mutex_lock(&lock);
    int *page = results;
    results = 0;
    pthread_mutex_unlock(&lock);
    munmap(page, 4096);
    return unused;
}

int main(void) {
    results = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t worker, owner;
    pthread_create(&worker, 0, work, 0);
    pthread_create(&owner, 0, end, 0);
    pthread_join(worker, 0);
    pthread_join(owner, 0);
    return 0;
}
