/* Two pumps fill their tanks from what the other tank shows, without a lock. A tank is full only if the pumps take strict turns: ten steps in
   one order, none of which changes anything alone. With the build flag -DRIGHT a tank holds one more, and no order fills it. */
#include <pthread.h>
#include <stdlib.h>

enum {
    STROKES = 5,
#ifdef RIGHT
    FULL = 145
#else
    FULL = 144
#endif
};

static volatile int left = 1, right = 1;

static void *pump_left(void *unused)
{
    for (int stroke = 0; stroke < STROKES; stroke++)
        left += right;
    return unused;
}

static void *pump_right(void *unused)
{
    for (int stroke = 0; stroke < STROKES; stroke++)
        right += left;
    return unused;
}

int main(void)
{
    pthread_t pumps[2];
    pthread_create(&pumps[0], 0, pump_left, 0);
    pthread_create(&pumps[1], 0, pump_right, 0);
    pthread_join(pumps[0], 0);
    pthread_join(pumps[1], 0);
    if (right >= FULL)
        abort();
    return 0;
}
