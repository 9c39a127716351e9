// Atomic operations of every size, operation and order.
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#define EACH(name, type)                                                                                     \
    static _Atomic type name;                                                                                \
    static void use_##name(void) {                                                                           \
        atomic_store_explicit(&name, (type)-3, memory_order_relaxed);                                        \
        atomic_store_explicit(&name, (type)-5, memory_order_release);                                        \
        atomic_store(&name, (type)100);                                                                      \
        long long seen = atomic_load_explicit(&name, memory_order_relaxed);                                  \
        seen += atomic_load_explicit(&name, memory_order_acquire) + atomic_load(&name);                      \
        seen += atomic_fetch_add(&name, 7) + atomic_fetch_sub_explicit(&name, 50, memory_order_acq_rel);     \
        seen += atomic_fetch_and(&name, 0x3b) + atomic_fetch_or_explicit(&name, 0x44, memory_order_release); \
        seen += atomic_fetch_xor(&name, 0x15) + atomic_exchange(&name, (type)-9);                            \
        seen += __atomic_fetch_nand((type *)&name, 0x33, __ATOMIC_SEQ_CST);                                  \
        seen += __atomic_fetch_max((type *)&name, 5, __ATOMIC_SEQ_CST);                                      \
        seen += __atomic_fetch_min((type *)&name, -20, __ATOMIC_RELAXED);                                    \
        seen += __atomic_add_fetch((type *)&name, 4, __ATOMIC_SEQ_CST);                                      \
        type expected = 1;                                                                                   \
        int failed = !atomic_compare_exchange_strong(&name, &expected, 2);                                   \
        int swapped = atomic_compare_exchange_strong_explicit(&name, &expected, 3, memory_order_acq_rel,     \
                                                              memory_order_relaxed);                         \
        while (!atomic_compare_exchange_weak(&name, &expected, (type)(expected + 1))) {}                     \
        name++;                                                                                              \
        name *= 3;                                                                                           \
        printf(#name " %lld %d %d %lld\n", seen, failed, swapped, (long long)name);                          \
    }

EACH(byte, int8_t)
EACH(ubyte, uint8_t)
EACH(half, int16_t)
EACH(uhalf, uint16_t)
EACH(word, int32_t)
EACH(uword, uint32_t)
EACH(wide, int64_t)
EACH(uwide, uint64_t)

static _Atomic(int *) pointer;
static _Atomic float single;
static _Atomic double twice;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static _Atomic _Bool truth;
struct both { int a, b; };
static _Atomic struct both both;
static int numbers[4];

int main(void) {
    use_byte(); use_ubyte(); use_half(); use_uhalf(); use_word(); use_uword(); use_wide(); use_uwide();
    atomic_store(&pointer, numbers);
    int *old = atomic_fetch_add(&pointer, 2);
    old = atomic_exchange(&pointer, old + 1);
    printf("%d %d\n", (int)(old - numbers), (int)(pointer - numbers));
    single += 1.5f; single -= 0.25f;
    twice = 2.5; twice += 1; twice *= 3;
    double expected = 10.5; int swapped = atomic_compare_exchange_strong(&twice, &expected, 8.0);
    printf("%g %g %d\n", single, twice, swapped);
#if __clang_major__ >= 18
    double floating = 1;
    double before = __atomic_fetch_add(&floating, 2.5, __ATOMIC_SEQ_CST);
    float less = 4; __atomic_fetch_sub(&less, 1.5f, __ATOMIC_RELAXED);
    printf("%g %g %g\n", before, floating, less);
#endif
    int first = atomic_flag_test_and_set(&flag), second = atomic_flag_test_and_set(&flag);
    atomic_flag_clear(&flag);
    truth = 1;
    printf("%d %d %d\n", first, second, atomic_exchange(&truth, 0));
    both = (struct both){3, 4};
    struct both halves = both;
    printf("%d\n", halves.a + halves.b);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_signal_fence(memory_order_acquire);
    printf("%d %d\n", __sync_fetch_and_add(&numbers[1], 5), __sync_val_compare_and_swap(&numbers[1], 5, 6));
    return 0;
}
