// Objects that threads take from a list under a lock, change on their own, and give back. Some take two.
#include "shape.h"

enum { OBJECTS = 6 };

static struct object {
    struct object *next;
    int owner, uses;
} objects[OBJECTS];
static struct object *list;
static int left;
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;

static struct object *take(int owner) {
    pthread_mutex_lock(&lock);
    while (!list) pthread_cond_wait(&given_back, &lock);
    struct object *object = list;
    list = object->next;
    left--;
    object->owner = owner;
    pthread_mutex_unlock(&lock);
    return object;
}

static void give_back(struct object *object) {
    pthread_mutex_lock(&lock);
    object->next = list;
    object->owner = -1;
    list = object;
    left++;
    pthread_cond_signal(&given_back);
    pthread_mutex_unlock(&lock);
}

static void *work(void *number) {
    int i = (int)(long)number;
    for (int k = 0; k < 15; k++) {
        struct object *object = take(i), *second = k % 3 ? 0 : take(i);
        object->uses++;
        if (second) {
            second->uses++;
            give_back(second);
        }
        give_back(object);
    }
    return 0;
}

int main(void) {
    for (int i = 0; i < OBJECTS; i++) {
        objects[i].next = list;
        list = &objects[i];
        left++;
    }
    run(4, work);
    printf("%d\n", left);
    return 0;
}
