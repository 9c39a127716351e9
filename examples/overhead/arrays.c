// Threads that compute on parts of arrays: the price of accesses. The first thread fills an array and hands it over; each
// of the others smooths and sorts a part of it, a table of counts of its own beside it; the first one adds up.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, PART = 16384, BINS = 256 };

static unsigned cells[THREADS * PART];

struct part {
    unsigned *cells;
    unsigned counts[BINS];
    unsigned total;
};

static long rounds;

static void smooth(unsigned *cell, int length) {
    for (int i = 1; i + 1 < length; i++) {
        cell[i] = (cell[i - 1] + 2 * cell[i] + cell[i + 1]) / 4;
    }
}

static void count(struct part *part, int length) {
    for (int i = 0; i < length; i++) {
        part->counts[part->cells[i] % BINS]++;
    }
}

static void stir(unsigned *cell, int length, unsigned round) {
    for (int i = 0; i < length; i++) {
        cell[i] = cell[i] * 1664525u + 1013904223u + round;
    }
}

static void *work(void *argument) {
    struct part *part = argument;
    for (long round = 0; round < rounds; round++) {
        smooth(part->cells, PART);
        count(part, PART);
        stir(part->cells, PART, (unsigned)round);
    }
    for (int i = 0; i < BINS; i++) {
        part->total = part->total * 31 + part->counts[i];
    }
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t thread[THREADS];
    struct part *part[THREADS];
    rounds = count > 1 ? atol(arguments[1]) : 2;
    for (int i = 0; i < THREADS * PART; i++) {
        cells[i] = (unsigned)i * 2654435761u;
    }
    for (int i = 0; i < THREADS; i++) {
        part[i] = calloc(1, sizeof *part[i]);
        part[i]->cells = cells + i * PART;
        pthread_create(&thread[i], NULL, work, part[i]);
    }
    unsigned total = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        total = total * 31 + part[i]->total;
        free(part[i]);
    }
    printf("%u\n", total);
    return 0;
}
