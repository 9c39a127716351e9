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
 * FORETRACE_LOCK("take") before a function says that it takes the lock that its first parameter (in C++: the object) is, so that a
 * lock of the program's own is seen as one: also "try" (the answer is not 0 if it has the lock), "try=0" (the answer is 0 then), "give", and of a
 * lock that can be shared "take shared", "take alone" and so on; "give either" gives back whatever the thread holds.
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
#ifdef __clang__
#define FORETRACE_LOCK(what) __attribute__((annotate("foretrace lock " what)))
#else
#define FORETRACE_LOCK(what)
#endif

#else

#define FORETRACE_ATOMIC_BEGIN(label) ((void)(label))
#define FORETRACE_ATOMIC_END(label) ((void)(label))
#define FORETRACE_RECORD_ON() ((void)0)
#define FORETRACE_RECORD_OFF() ((void)0)
#define FORETRACE_LOCK(what)

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
