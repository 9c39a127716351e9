/* A list of shapes that several threads change: what is allocated is named by its types. */
#include <pthread.h>
#include <stdlib.h>

struct size { int width, height; };
typedef struct { long id; struct size sizes[2]; } shape_t;
struct list { pthread_mutex_t lock; shape_t *shapes; struct list *next; int length; };

static struct list *first;

static void grow(struct list *list, int at)
{
    shape_t *shape = &list->shapes[at];
    pthread_mutex_lock(&list->lock);
    shape->sizes[1].height++;
    list->length++;
    pthread_mutex_unlock(&list->lock);
}

static void *work(void *given)
{
    long *plain = given;
    grow(first, 1);
    first->next->length++;
    ++*plain;
    return NULL;
}

int main(void)
{
    first = calloc(1, sizeof *first);
    first->next = calloc(1, sizeof *first);
    first->shapes = calloc(2, sizeof *first->shapes);
    pthread_mutex_init(&first->lock, NULL);
    long *plain = calloc(1, sizeof *plain); /* @plain */
    pthread_t thread;
    pthread_create(&thread, NULL, work, plain);
    grow(first, 0);
    work(plain);
    pthread_join(thread, NULL);
    return first->length == 3 ? 0 : 1;
}
