// Two threads that race in all sizes, on aligned words and across cache lines.
#include "hooks.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int counter;
static _Alignas(64) char bytes[256];
static int rounds;

static void *race(void *argument) {
    uint64_t id = (uintptr_t)argument;
    for (int i = 0; i < rounds; i++) {
        uint64_t value = __foretrace_load4(&counter, 1);
        __foretrace_branch(value & 1, 2);
        __foretrace_store4(&counter, value + 1, 3);
        if (i % 8 == 0) {
            uint64_t wide = __foretrace_load8(bytes + 60, 4);
            __foretrace_store8(bytes + 60, wide + 0x100000001 * id, 5);
            __foretrace_update4(bytes + 64, 3, ADD, 6);
            __foretrace_cas4(bytes + 64, value, i, 7);
            __foretrace_store1(bytes + 62, i, 8);
        }
        if (i % 64 == 0) {
            __foretrace_copy(bytes + 100 + id, bytes + 57, 40, 9);
            __foretrace_copy(bytes + 60 + id, bytes + 57, 40, 10);
            __foretrace_set(bytes + 121, i, 13, 11);
        }
    }
    return argument;
}

// The hooks alone do what the functions do whose place they take.
static void check_copies(void) {
    char expected[64], found[64];
    for (int to = 0; to < 20; to++)
        for (int length = 0; length < 40; length++) {
            for (int i = 0; i < 64; i++) {
                expected[i] = (char)(i * 7 + 1);
                __foretrace_store1(&found[i], expected[i], 13);
            }
            memmove(expected + to, expected + 9, length);
            __foretrace_copy(found + to, found + 9, length, 12);
            if (memcmp(expected, found, 64))
                abort();
        }
}

int main(int count, char **arguments) {
    rounds = count > 1 ? atoi(arguments[1]) : 100;
    check_copies();
    pthread_t threads[2];
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, race, (void *)(i + 1));
    for (uintptr_t i = 0; i < 2; i++) {
        void *result;
        pthread_join(threads[i], &result);
        if ((uintptr_t)result != i + 1)
            abort();
    }
    printf("%d of %d\n", counter, 2 * rounds);
}
