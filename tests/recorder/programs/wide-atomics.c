// Atomic accesses of 16 bytes of every kind; what they find is printed.
#include <pthread.h>
#include <stdio.h>

typedef unsigned __int128 wide;

static wide shared, pair;

static void *work(void *unused) {
    for (int turn = 0; turn < 3; turn++) {
        __atomic_fetch_add(&shared, (wide)1 << 64 | 3, __ATOMIC_SEQ_CST);
        wide seen = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
        while (!__atomic_compare_exchange_n(&shared, &seen, seen + ((wide)5 << 70), turn & 1, __ATOMIC_SEQ_CST,
                                            __ATOMIC_RELAXED)) {
        }
    }
    return unused;
}

static void show(const char *name, wide value) {
    printf("%s %llx %llx\n", name, (unsigned long long)(value >> 64), (unsigned long long)value);
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], 0, work, 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], 0);
    }
    show("shared", shared);
    wide ones = ~(wide)0;
    __atomic_store_n(&pair, ones - 5, __ATOMIC_RELEASE);
    show("add", __atomic_fetch_add(&pair, 7, __ATOMIC_SEQ_CST));
    show("sub", __atomic_fetch_sub(&pair, (wide)9 << 60, __ATOMIC_SEQ_CST));
    show("or", __atomic_fetch_or(&pair, (wide)6 << 62, __ATOMIC_SEQ_CST));
    show("and", __atomic_fetch_and(&pair, ones << 3, __ATOMIC_SEQ_CST));
    show("xor", __atomic_fetch_xor(&pair, ones >> 30, __ATOMIC_SEQ_CST));
    show("nand", __atomic_fetch_nand(&pair, (wide)3 << 63, __ATOMIC_SEQ_CST));
    show("exchange", __atomic_exchange_n(&pair, (wide)11 << 61, __ATOMIC_SEQ_CST));
    wide expected = 1;
    int done = __atomic_compare_exchange_n(&pair, &expected, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    show("found", expected);
    done = done * 2 + __atomic_compare_exchange_n(&pair, &expected, 13, 1, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    show(done == 1 ? "swapped" : "not swapped", __atomic_load_n(&pair, __ATOMIC_SEQ_CST));
    return 0;
}
