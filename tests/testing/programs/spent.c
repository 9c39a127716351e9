// A purse and a word that there is something in it, which no thread takes back. A thread that goes by the word may find the purse empty.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { COINS = 10, NOTHING = -1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int coins, purse[COINS];
static bool is_filled;

static int level(void) {
    return coins;
}

static bool put(void) {
    if (coins == COINS) {
        return false;
    }
    purse[level()] = coins;
    coins++;
    return true;
}

static int take(void) {
    if (level() == 0) {
        puts("empty");
        return NOTHING;
    }
    coins--;
    return purse[level()];
}

static void *saver(void *unused) {
    for (int turn = 0; turn < COINS; turn++) {
        pthread_mutex_lock(&lock);
        assert(put());
        is_filled = true;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *spender(void *unused) {
    for (int turn = 0; turn < COINS; turn++) {
        pthread_mutex_lock(&lock);
        if (is_filled) {
            assert(take() != NOTHING);
        }
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, saver, NULL);
    pthread_create(&threads[1], NULL, spender, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    puts("done");
}
