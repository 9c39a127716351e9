/* Waits for another thread by sleeping, which orders nothing; or by a join, with RIGHT. With HANGS it does not end
   if it was too early. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int served;

static void *serve(void *unused)
{
    for (int i = 0; i < 3; i++)
        atomic_fetch_add(&served, 1);
    return unused;
}

int main(void)
{
    pthread_t server;
    pthread_create(&server, NULL, serve, NULL);
#ifdef RIGHT
    pthread_join(server, NULL);
#else
    usleep(20000);
#endif
    if (atomic_load(&served) != 3) {
#ifdef HANGS
        for (;;)
            ;
#endif
        return 1;
    }
#ifndef RIGHT
    pthread_join(server, NULL);
#endif
    return 0;
}
