/* One thread looks for the last zero of an array, from the end; SETTERS others set an element each from the one before. */
#include <pthread.h>
#include <stdint.h>

static int a[SETTERS + 1], found;

static void *look(void *unused)
{
    int i = SETTERS;
    while (a[i] != 0)
        i--;
    found = i;
    return unused;
}

static void *set(void *number)
{
    intptr_t k = (intptr_t)number;
    a[k] = a[k - 1] + 1;
    return NULL;
}

int main(void)
{
    pthread_t looker, setters[SETTERS];
    pthread_create(&looker, NULL, look, NULL);
    for (intptr_t k = 1; k <= SETTERS; k++)
        pthread_create(&setters[k - 1], NULL, set, (void *)k);
    pthread_join(looker, NULL);
    for (int k = 0; k < SETTERS; k++)
        pthread_join(setters[k], NULL);
    return 0;
}
