/* Reads the second word of a block that it has freed. With an argument it frees the block twice. */
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments)
{
    (void)arguments;
    for (int bytes = 24; bytes < 2000; bytes *= 2) {
        unsigned long *block = malloc(bytes), *next = malloc(bytes);
        block[1] = 7;
        free(block);
        if (count > 1)
            free(block);
        printf("%lx\n", block[1]);
        free(next);
    }
    return 0;
}
