/* Two blocks of a function have a variable `s` each. With SAME the types are one, else they differ. */
#include <pthread.h>
#include <stdlib.h>

struct point {
    int x, y;
};

#ifdef SAME
typedef struct point other;
#define SECOND y
#else
typedef struct {
    int low, high;
} other;
#define SECOND high
#endif

static void *shared_point, *shared_other;

static void update(int which)
{
    if (which) {
        struct point *s = shared_point;
        s->y++;
    } else {
        other *s = shared_other;
        s->SECOND++;
    }
}

static void *work(void *unused)
{
    update(0);
    update(1);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    shared_point = calloc(1, sizeof(struct point));
    shared_other = calloc(1, sizeof(other));
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
