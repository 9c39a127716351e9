// Performs the hooks plainly; with STUB_LOG set, writes a line for each record to the file that it names: thread, kind,
// site within the unit, words in hexadecimal. Without it recording is off; with STUB_MODES set as well the program turns it
// on and off as it likes. With STUB_STRICT set a hook that is called with recording off ends the program.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// What the runtime has for threads that own memory: none do here.
__thread void *foretrace_owner;
void __foretrace_deliver(void) {}

typedef uint64_t word;

unsigned char __foretrace_mode = 1;
static int strict;

__attribute__((constructor(101))) static void start(void) {
    __foretrace_mode = getenv("STUB_LOG") ? 2 : 0;
    strict = getenv("STUB_STRICT") != NULL;
}
void stub_mode(int mode) {
    if (getenv("STUB_MODES")) __foretrace_mode = (unsigned char)mode;
}

static FILE *log_file(void) {
    static FILE *file;
    static int asked;
    if (!asked) {
        asked = 1;
        const char *name = getenv("STUB_LOG");
        if (name) file = fopen(name, "w");
    }
    return file;
}

#define RECORD(kind, count, ...)                                              \
    do {                                                                      \
        FILE *file = log_file();                                              \
        if (strict && __foretrace_mode == 0) abort();                         \
        word words[] = {__VA_ARGS__};                                         \
        if (file) {                                                           \
            flockfile(file);                                                  \
            fprintf(file, "%ld %s %u", syscall(SYS_gettid), kind, (unsigned)(site & 0xffffff)); \
            for (int i = 0; i < count; i++) fprintf(file, " %llx", (unsigned long long)words[i]); \
            fputc('\n', file);                                                \
            fflush(file);                                                     \
            funlockfile(file);                                                \
        }                                                                     \
    } while (0)

static word updated(word op, word old, word operand, word sold, word soperand) {
    switch (op) {
    case 0: return operand;
    case 1: return old + operand;
    case 2: return old - operand;
    case 3: return old & operand;
    case 4: return ~(old & operand);
    case 5: return old | operand;
    case 6: return old ^ operand;
    case 7: return (int64_t)sold > (int64_t)soperand ? old : operand;
    case 8: return (int64_t)sold < (int64_t)soperand ? old : operand;
    case 9: return old > operand ? old : operand;
    case 10: return old < operand ? old : operand;
    default: abort();
    }
}

#define SIZE(n, type, stype)                                                                         \
    word __foretrace_load##n(word address, word site) {                                              \
        type value;                                                                                  \
        memcpy(&value, (void *)address, n);                                                          \
        RECORD("load" #n, 2, address, value);                                                        \
        return value;                                                                                \
    }                                                                                                \
    void __foretrace_store##n(word address, word value, word site) {                                 \
        type narrow = (type)value;                                                                   \
        RECORD("store" #n, 2, address, value);                                                       \
        if (narrow != value) abort();                                                                \
        memcpy((void *)address, &narrow, n);                                                         \
    }                                                                                                \
    word __foretrace_update##n(word address, word operand, word op, word site) {                     \
        type old = *(type *)address;                                                                 \
        *(type *)address = (type)updated(op, old, operand, (word)(stype)old, (word)(stype)operand);  \
        RECORD("update" #n, 3, address, old, *(type *)address);                                      \
        return old;                                                                                  \
    }                                                                                                \
    word __foretrace_cas##n(word address, word expected, word desired, word site) {                  \
        type old = *(type *)address;                                                                 \
        RECORD("cas" #n, 4, address, old, expected, desired);                                        \
        if (old == expected) *(type *)address = (type)desired;                                       \
        return old;                                                                                  \
    }

SIZE(1, uint8_t, int8_t)
SIZE(2, uint16_t, int16_t)
SIZE(4, uint32_t, int32_t)
SIZE(8, uint64_t, int64_t)

// Those of 16 bytes: a read, a write, a compare-and-swap, an exchange, an addition.
struct halves { word low, high; };
struct halves __foretrace_pair(word what, word address, word a, word b, word c, word d, word site) {
    unsigned __int128 *place = (void *)address, old = *place;
    unsigned __int128 first = (unsigned __int128)b << 64 | a, second = (unsigned __int128)d << 64 | c;
    RECORD("pair", 8, what, address, a, b, c, d, (word)old, (word)(old >> 64));
    switch (what) {
    case 0: break;
    case 1: case 3: *place = first; break;
    case 2: if (old == first) *place = second; break;
    case 4: *place = old + first; break;
    default: abort();
    }
    return (struct halves){(word)old, (word)(old >> 64)};
}

void __foretrace_copy(word to, word from, word length, word site) {
    RECORD("copy", 3, to, from, length);
    memmove((void *)to, (void *)from, length);
}
void __foretrace_set(word to, word byte, word length, word site) {
    RECORD("set", 3, to, byte, length);
    memset((void *)to, (int)byte, length);
}
// Positions come from the build.
word __foretrace_library(word function, word a, word b, word c, word d, word e, word site) {
    (void)e, (void)site;
    switch (function) {
    case LIBRARY_memcpy: return (word)memcpy((void *)a, (void *)b, c);
    case LIBRARY_memcmp: case LIBRARY_bcmp: return (word)memcmp((void *)a, (void *)b, c);
    case LIBRARY_memchr: return (word)memchr((void *)a, (int)b, c);
    case LIBRARY_strlen: return strlen((char *)a);
    case LIBRARY_strcmp: return (word)strcmp((char *)a, (char *)b);
    case LIBRARY_strtol: return (word)strtol((char *)a, (char **)b, (int)c);
    case LIBRARY_qsort: qsort((void *)a, b, c, (int (*)(const void *, const void *))d); return 0;
    default: abort();
    }
}
void __foretrace_reads(word function, word a, word b, word c, word d, word e, word f, word site) {
    (void)function, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)site;
}
void __foretrace_wrote(word function, word result, word a, word b, word c, word d, word e, word f, word site) {
    (void)function, (void)result, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)site;
}
void __foretrace_printed(word format, word index, word text, word before, word site) {
    (void)format, (void)index, (void)text, (void)before, (void)site;
}
void foretrace_unseen(const char *what, const void *object) { (void)what, (void)object; }
void __foretrace_printed_list(word format, word list, word site) { (void)format, (void)list, (void)site; }
void __foretrace_scanned(word result, word format, word index, word place, word site) {
    (void)result, (void)format, (void)index, (void)place, (void)site;
}
void __foretrace_branch(word condition, word site) { RECORD("branch", 1, condition); if (condition > 1) abort(); }
void __foretrace_switch(word value, word site) { RECORD("switch", 1, value); }
void __foretrace_enter0(word site) { RECORD("enter", 0, 0); }
void __foretrace_enter1(word site, word a) { RECORD("enter", 1, a); }
void __foretrace_enter2(word site, word a, word b) { RECORD("enter", 2, a, b); }
void __foretrace_enter3(word site, word a, word b, word c) { RECORD("enter", 3, a, b, c); }
void __foretrace_enter4(word site, word a, word b, word c, word d) { RECORD("enter", 4, a, b, c, d); }
void __foretrace_argument(word value, word site) { RECORD("argument", 1, value); }
void __foretrace_value(word value, word site) { RECORD("value", 1, value); }
void __foretrace_result(word value, word site) { RECORD("result", 1, value); }
void __foretrace_landing(word site) { RECORD("landing", 0, 0); }
void __foretrace_alloca(word address, word size, word site) { RECORD("alloca", 2, address, size); }
void foretrace_atomic_begin(const char *label) { (void)label; }
void foretrace_atomic_end(const char *label) { (void)label; }
