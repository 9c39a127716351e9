// A job has a semaphore. Main frees the job once it knows the result. If a flag told it of the result, the worker has yet to post.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
    long id;
    long result;
    sem_t done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int finished;

static void *worker(void *argument) {
    struct job *job = argument;
    job->result = job->id * 2;
    pthread_mutex_lock(&lock);
    finished = 1;
    pthread_mutex_unlock(&lock);
    sem_post(&job->done);
    return NULL;
}

int main(void) {
    struct job *job = calloc(1, sizeof *job);
    job->id = 21;
    sem_init(&job->done, 0, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, worker, job);
    pthread_mutex_lock(&lock);
    int is_finished = finished;
    pthread_mutex_unlock(&lock);
#ifdef RIGHT
    is_finished = 0;
#endif
    if (!is_finished)
        sem_wait(&job->done);
    printf("%ld\n", job->result);
    sem_destroy(&job->done);
    free(job);
    pthread_join(thread, NULL);
    return 0;
}
