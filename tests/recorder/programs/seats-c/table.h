/* A small table whose code is in macros, like uthash's, and in functions of this header. */
#define SLOTS 8

struct table {
    struct {
        int key, used;
    } slots[SLOTS];
    int count;
};

#define TABLE_FIND(table, wanted, found)                                    \
    do {                                                                    \
        (found) = 0;                                                        \
        for (int i = 0; i < SLOTS; i++)                                     \
            if ((table)->slots[i].used && (table)->slots[i].key == (wanted)) \
                (found) = 1;                                                \
    } while (0)

#define TABLE_ADD(table, wanted)                                            \
    do {                                                                    \
        int at = (table)->count++ % SLOTS;                                  \
        (table)->slots[at].key = (wanted);                                  \
        (table)->slots[at].used = 1;                                        \
    } while (0)

static inline int table_has(struct table *table, int wanted)
{
    int found;
    TABLE_FIND(table, wanted, found);
    return found;
}

static inline void table_add(struct table *table, int wanted)
{
    TABLE_ADD(table, wanted);
}
