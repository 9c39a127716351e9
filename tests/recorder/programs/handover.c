// Memory that changes hands all the time: every read has to return what the last write in the trace's order left.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ROUNDS
#define ROUNDS 400
#endif

enum { THREADS = 3, LINES = 48 };

static unsigned char memory[LINES * 64] __attribute__((aligned(4096)));
static int *volatile handed;

static uint32_t next(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

// Accesses of every size, aligned or not, within lines and across.
static uint64_t touch(unsigned char *at, uint32_t how) {
    switch (how % 10) {
    case 0: return *at;
    case 1: return *(volatile uint16_t *)at;
    case 2: return *(volatile uint32_t *)at;
    case 3: return *(volatile uint64_t *)at;
    case 4: return *at = (unsigned char)how;
    case 5: return *(volatile uint16_t *)at = (uint16_t)how;
    case 6: return *(volatile uint32_t *)at = how;
    case 7: return *(volatile uint64_t *)at = how * 0x100000001ull;
    case 8: return __atomic_fetch_add((uint32_t *)((uintptr_t)at & ~3ul), how, __ATOMIC_SEQ_CST);
    default: memmove(at, at + 24, 40); return 0;
    }
}

// A thread stays in its own lines for a while, then goes to others'.
static void *storm(void *argument) {
    uint32_t state = (uint32_t)(uintptr_t)argument * 2654435761u;
    uint64_t sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char *place = memory + next(&state) % (LINES - 3) * 64;
        for (uint32_t stay = next(&state) % 40; stay > 0; stay--) {
            sum += touch(place + next(&state) % 120, next(&state));
        }
    }
    return (void *)(uintptr_t)sum;
}

// Blocks that one thread allocates and fills, and another one reads and frees.
static void *give(void *unused) {
    for (int i = 1; i <= ROUNDS / 4; i++) {
        while (handed) {
            usleep(100);
        }
        int *block = malloc(256);
        for (int k = 0; k < 64; k++) {
            block[k] = i * k;
        }
        block = realloc(block, 512);
        handed = block;
    }
    return unused;
}

static void *take(void *unused) {
    for (int i = 1; i <= ROUNDS / 4; i++) {
        while (!handed) {
            usleep(100);
        }
        int *block = handed;
        for (int k = 0; k < 64; k++) {
            if (block[k] != i * k) {
                abort();
            }
            block[k] = 0;
        }
        free(block);
        handed = NULL;
    }
    return unused;
}

// A stack that the next thread gets, too.
static void *brief(void *argument) {
    volatile int local[64];
    int sum = 0;
    for (int i = 0; i < 64; i++) {
        local[i] = i;
    }
    for (int i = 0; i < 64; i++) {
        sum += local[(i * 7 + (int)(uintptr_t)argument) % 64];
    }
    return (void *)(uintptr_t)sum;
}

int main(void) {
    pthread_t thread[THREADS], giver, taker;
    for (int i = 0; i < LINES * 64; i++) {
        memory[i] = (unsigned char)i;
    }
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_create(&thread[i], NULL, storm, (void *)(i + 1));
    }
    pthread_create(&giver, NULL, give, NULL);
    pthread_create(&taker, NULL, take, NULL);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    pthread_join(giver, NULL);
    pthread_join(taker, NULL);
    for (uintptr_t i = 0; i < 4; i++) {
        pthread_create(&thread[0], NULL, brief, (void *)i);
        pthread_join(thread[0], NULL);
    }
    // Written and read by code that is not instrumented.
    char text[64], copy[64];
    memset(text, 'a', sizeof text);
    snprintf(text, sizeof text, "%d rounds", ROUNDS);
    strcpy(copy, text);
    puts(copy[0] == text[0] && copy[3] == ' ' ? "handed over" : "lost");
    return 0;
}
