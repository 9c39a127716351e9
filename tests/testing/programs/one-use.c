// No thread accesses the job twice, so there is no block to judge. The wrong twin says that the job is done before it writes the result.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

struct job {
    char name[32];
    int result;
};

static sem_t done;

static void *work(void *argument) {
    struct job *job = argument;
#ifdef RIGHT
    job->result = 4;
    sem_post(&done);
#else
    sem_post(&done);
    job->result = 4;
#endif
    return 0;
}

int main(void) {
    sem_init(&done, 0, 0);
    struct job *job = malloc(sizeof *job);
    pthread_t thread;
    pthread_create(&thread, NULL, work, job);
    sem_wait(&done);
    usleep(1000);
    free(job);
    pthread_join(thread, NULL);
    return 0;
}
