/* Marks for foretrace: what is meant to happen as if nothing came between.
 *
 *     FORETRACE_ATOMIC_BEGIN("transfer");
 *     ...
 *     FORETRACE_ATOMIC_END("transfer");
 *
 * and in C++ for the rest of a scope
 *
 *     foretrace::atomic section("transfer");
 *
 * FORETRACE_RECORD_OFF() and FORETRACE_RECORD_ON() switch recording off and on again; the trace is of what was recorded last.
 *
 * They do nothing unless `foretrace cc` or `foretrace c++` compiles the program. The label is a string literal, or any
 * string that lives as long as the program. */
#ifndef FORETRACE_H
#define FORETRACE_H

#ifdef __FORETRACE__

#ifdef __cplusplus
extern "C" {
#endif
void foretrace_atomic_begin(const char *label);
void foretrace_atomic_end(const char *label);
void foretrace_record_on(void);
void foretrace_record_off(void);
#ifdef __cplusplus
}
#endif

#define FORETRACE_ATOMIC_BEGIN(label) foretrace_atomic_begin(label)
#define FORETRACE_ATOMIC_END(label) foretrace_atomic_end(label)
#define FORETRACE_RECORD_ON() foretrace_record_on()
#define FORETRACE_RECORD_OFF() foretrace_record_off()

#else

#define FORETRACE_ATOMIC_BEGIN(label) ((void)(label))
#define FORETRACE_ATOMIC_END(label) ((void)(label))
#define FORETRACE_RECORD_ON() ((void)0)
#define FORETRACE_RECORD_OFF() ((void)0)

#endif

#ifdef __cplusplus
namespace foretrace {

/* A transaction from here to the end of the scope. */
class atomic {
public:
    explicit atomic(const char *label) : label_(label) { FORETRACE_ATOMIC_BEGIN(label_); }
    ~atomic() { FORETRACE_ATOMIC_END(label_); }

private:
    atomic(const atomic &);
    atomic &operator=(const atomic &);

    const char *label_;
};

} // namespace foretrace
#endif

#endif
