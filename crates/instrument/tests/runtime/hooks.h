// Hooks called by hand, as instrumented code would.
#include <stdint.h>

uint64_t __foretrace_load1(const void *address, uint64_t site);
uint64_t __foretrace_load4(const void *address, uint64_t site);
uint64_t __foretrace_load8(const void *address, uint64_t site);
void __foretrace_store1(void *address, uint64_t value, uint64_t site);
void __foretrace_store4(void *address, uint64_t value, uint64_t site);
void __foretrace_store8(void *address, uint64_t value, uint64_t site);
uint64_t __foretrace_update4(void *address, uint64_t operand, uint64_t op, uint64_t site);
uint64_t __foretrace_update8(void *address, uint64_t operand, uint64_t op, uint64_t site);
uint64_t __foretrace_cas4(void *address, uint64_t expected, uint64_t desired, uint64_t site);
void __foretrace_copy(void *to, const void *from, uint64_t length, uint64_t site);
void __foretrace_set(void *to, uint64_t byte, uint64_t length, uint64_t site);
void __foretrace_branch(uint64_t condition, uint64_t site);

enum { EXCHANGE, ADD };
