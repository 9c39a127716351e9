/* A plan is replaced by another one, which may get the memory of the first, freed one. Pointers to the two are one value. Each user counts itself in
   and out under the lock, so all is right; nothing is freed if KEEPS. */
#include <pthread.h>
#include <stdlib.h>

struct plan { int users, limit; };
static struct plan *current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct plan *made(int limit)
{
    struct plan *plan = malloc(sizeof *plan);
    plan->users = 1;
    plan->limit = limit;
    return plan;
}

static void leave(struct plan *plan)
{
    pthread_mutex_lock(&lock);
    int left = --plan->users;
    pthread_mutex_unlock(&lock);
#ifndef KEEPS
    if (left == 0)
        free(plan);
#endif
}

static void *use(void *nothing)
{
    pthread_mutex_lock(&lock);
    struct plan *plan = current;
    plan->users++;
    pthread_mutex_unlock(&lock);
    leave(plan);
    return nothing;
}

static void replace(struct plan *plan)
{
    pthread_mutex_lock(&lock);
    struct plan *old = current;
    current = plan;
    pthread_mutex_unlock(&lock);
    leave(old);
}

static void *plan_again(void *nothing)
{
    replace(made(2));
    replace(made(3));
    return nothing;
}

int main(void)
{
    pthread_t planner, user;
    current = made(1);
    pthread_create(&planner, NULL, plan_again, NULL);
    pthread_create(&user, NULL, use, NULL);
    pthread_join(planner, NULL);
    pthread_join(user, NULL);
    leave(current);
    return 0;
}
