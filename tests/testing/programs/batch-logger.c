/* A logger that writes lines in batches. Wrong: the flusher copies the buffer and clears it in another section, so that lines between the two are lost. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#define LINES 4
static char buffer[64][16], written[64][16];
static int filled, total;
static int over;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static void log_line(int who, int number)
{
    pthread_mutex_lock(&lock);
    snprintf(buffer[filled], sizeof buffer[0], "%d.%d", who, number);
    filled++;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
}
static void *flusher(void *argument)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!filled && !over) pthread_cond_wait(&more, &lock);
        if (!filled && over) { pthread_mutex_unlock(&lock); return argument; }
        int count = filled;
#ifdef RIGHT
        memcpy(written[total], buffer, count * sizeof buffer[0]);
        filled = 0;
        pthread_mutex_unlock(&lock);
#else
        pthread_mutex_unlock(&lock);
        memcpy(written[total], buffer, count * sizeof buffer[0]);
        pthread_mutex_lock(&lock);
        filled = 0;
        pthread_mutex_unlock(&lock);
#endif
        total += count;
    }
}
static void *writer(void *who)
{
    for (int i = 0; i < LINES; i++) log_line(*(int *)who, i);
    return NULL;
}
int main(void)
{
    pthread_t flush, writers[2];
    int names[2] = {1, 2};
    pthread_create(&flush, NULL, flusher, NULL);
    for (int i = 0; i < 2; i++) pthread_create(&writers[i], NULL, writer, &names[i]);
    for (int i = 0; i < 2; i++) pthread_join(writers[i], NULL);
    pthread_mutex_lock(&lock);
    over = 1;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
    pthread_join(flush, NULL);
    if (total != 2 * LINES) { printf("error: lines were lost\n"); return 1; }
    return 0;
}
