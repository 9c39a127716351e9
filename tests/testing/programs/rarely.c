#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void *add(void *unused) {
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    return unused;
}
/* Every tenth run writes another line, as a rare race would do. */
static int runs(void) {
    int count = 0;
    FILE *file = fopen("runs", "r");
    if (file && fscanf(file, "%d", &count) != 1) return 0;
    if (file) fclose(file);
    file = fopen("runs", "w");
    fprintf(file, "%d\n", count + 1);
    fclose(file);
    return count;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, add, 0);
    pthread_create(&other, 0, add, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    printf("total %d\n", runs() % 10 == 5 ? total - 1 : total);
    return 0;
}
