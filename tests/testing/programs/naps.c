/* Two jobs sleep for long. The first thread counts them after a short sleep, and asks again and again whether they are done. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int done, busy;

static void *job(void *unused)
{
    atomic_fetch_add(&busy, 1);
    sleep(23);
    atomic_fetch_sub(&busy, 1);
    atomic_fetch_add(&done, 1);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, job, NULL);
    pthread_create(&second, NULL, job, NULL);
    sleep(1);
    int seen = atomic_load(&busy);
    while (atomic_load(&done) < 2)
        sleep(2);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return seen == 2 ? 0 : 1;
}
