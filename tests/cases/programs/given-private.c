/* Blocks that one thread alone uses, until it publishes one in the place of an earlier one. Another thread gets the earlier one if it comes sooner. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct plan { atomic_int users; int limit; };
static struct plan *current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static struct plan *made(int limit)
{
    struct plan *plan = malloc(sizeof *plan);
    plan->limit = limit;
    atomic_init(&plan->users, 1);
    return plan;
}

static void leave(struct plan *plan)
{
    if (atomic_fetch_sub(&plan->users, 1) == 1)
        free(plan);
}

static void use(void)
{
    pthread_mutex_lock(&lock);
    struct plan *plan = current;
    atomic_fetch_add(&plan->users, 1);
    pthread_mutex_unlock(&lock);
    sum += plan->limit;
    leave(plan);
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
    for (int limit = 2; limit < 6; limit++) {
        replace(made(limit));
        use();
    }
    return nothing;
}

static void *use_twice(void *nothing)
{
    use();
    use();
    return nothing;
}

int main(void)
{
    pthread_t planner, user;
    current = made(1);
    pthread_create(&planner, NULL, plan_again, NULL);
    pthread_create(&user, NULL, use_twice, NULL);
    pthread_join(planner, NULL);
    pthread_join(user, NULL);
    leave(current);
    return 0;
}
