// The compressing part of pbzip2 0.9.4: main hands blocks to a consumer, waits until all are written, and deletes the queue, whose mutex
// the consumer may still use. With RIGHT main waits for the consumer first.
#include <cstdlib>
#include <pthread.h>

#define QUEUESIZE 4
#define BLOCKS 3

struct queue {
    char *buf[QUEUESIZE];
    int head, tail;
    int full, empty;
    pthread_mutex_t *mut;
    pthread_cond_t *notFull, *notEmpty;
};

static int allDone = 0;
static int NumBlocks = 0;
static int written = 0;
static pthread_mutex_t OutMutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t OutCond = PTHREAD_COND_INITIALIZER;

static queue *queueInit()
{
    queue *q = new queue;
    q->empty = 1;
    q->full = 0;
    q->head = 0;
    q->tail = 0;
    q->mut = new pthread_mutex_t;
    pthread_mutex_init(q->mut, NULL);
    q->notFull = new pthread_cond_t;
    pthread_cond_init(q->notFull, NULL);
    q->notEmpty = new pthread_cond_t;
    pthread_cond_init(q->notEmpty, NULL);
    return q;
}

static void queueDelete(queue *q)
{
    pthread_mutex_destroy(q->mut);
    delete q->mut;
    q->mut = NULL;
    pthread_cond_destroy(q->notFull);
    delete q->notFull;
    q->notFull = NULL;
    pthread_cond_destroy(q->notEmpty);
    delete q->notEmpty;
    q->notEmpty = NULL;
}

static void queueAdd(queue *q, char *in)
{
    q->buf[q->tail] = in;
    q->tail++;
    if (q->tail == QUEUESIZE)
        q->tail = 0;
    if (q->tail == q->head)
        q->full = 1;
    q->empty = 0;
}

static char *queueDel(queue *q)
{
    char *out = q->buf[q->head];
    q->head++;
    if (q->head == QUEUESIZE)
        q->head = 0;
    if (q->head == q->tail)
        q->empty = 1;
    q->full = 0;
    return out;
}

static void *consumer(void *arg)
{
    queue *fifo = (queue *)arg;
    for (;;) {
        pthread_mutex_lock(fifo->mut);
        while (fifo->empty) {
            if (allDone == 1) {
                pthread_mutex_unlock(fifo->mut);
                return NULL;
            }
            pthread_cond_wait(fifo->notEmpty, fifo->mut);
        }
        char *block = queueDel(fifo);
        pthread_mutex_unlock(fifo->mut);
        pthread_cond_signal(fifo->notFull);
        block[0] ^= 1;
        pthread_mutex_lock(&OutMutex);
        written++;
        pthread_mutex_unlock(&OutMutex);
        pthread_cond_signal(&OutCond);
        free(block);
    }
}

static void producer(queue *fifo)
{
    for (int block = 0; block < NumBlocks; block++) {
        char *data = (char *)calloc(1, 16);
        pthread_mutex_lock(fifo->mut);
        while (fifo->full)
            pthread_cond_wait(fifo->notFull, fifo->mut);
        queueAdd(fifo, data);
        pthread_mutex_unlock(fifo->mut);
        pthread_cond_signal(fifo->notEmpty);
    }
    pthread_mutex_lock(fifo->mut);
    allDone = 1;
    pthread_mutex_unlock(fifo->mut);
    pthread_cond_signal(fifo->notEmpty);
}

static void fileWriter()
{
    pthread_mutex_lock(&OutMutex);
    while (written < NumBlocks)
        pthread_cond_wait(&OutCond, &OutMutex);
    pthread_mutex_unlock(&OutMutex);
}

int main()
{
    NumBlocks = BLOCKS;
    queue *fifo = queueInit();
    pthread_t con;
    pthread_create(&con, NULL, consumer, fifo);
    producer(fifo);
    fileWriter();
#ifdef RIGHT
    pthread_join(con, NULL);
    queueDelete(fifo);
#else
    queueDelete(fifo);
    pthread_join(con, NULL);
#endif
    return 0;
}
