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
 * Operations on a concurrent object, for `foretrace linearizable`: the object is an address, or 0 if there is only one; the method is a
 * string literal; then come up to four numbers, the arguments or the result. A return without a result gives nothing, as does a pop that
 * finds the stack empty:
 *
 *     FORETRACE_CALL(stack, "push", value);
 *     ...
 *     FORETRACE_RETURN(stack, "push");
 *
 * and in C++11 for the rest of a scope; the result of an operation that no `returns` ends is not known:
 *
 *     foretrace::operation operation(this, "pop");
 *     ...
 *     return operation.returns(value);
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
void foretrace_call(const char *method, const void *object);
void foretrace_return(const char *method, const void *object);
void foretrace_value(unsigned long long value, unsigned long long given);
void foretrace_record_on(void);
void foretrace_record_off(void);
#ifdef __cplusplus
}
#endif

#define FORETRACE_ATOMIC_BEGIN(label) foretrace_atomic_begin(label)
#define FORETRACE_ATOMIC_END(label) foretrace_atomic_end(label)
#define FORETRACE_GIVE_(value) foretrace_value((unsigned long long)(value), 0)
#define FORETRACE_CALL_(object, method) foretrace_call(method, (const void *)(object))
#define FORETRACE_RETURN_(object, method) foretrace_return(method, (const void *)(object))
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
#define FORETRACE_GIVE_(value) ((void)(value))
#define FORETRACE_CALL_(object, method) ((void)(object), (void)(method))
#define FORETRACE_RETURN_(object, method) ((void)(object), (void)(method))
#define FORETRACE_RECORD_ON() ((void)0)
#define FORETRACE_RECORD_OFF() ((void)0)
#define FORETRACE_LOCK(what)

#endif

/* An object, a method and up to four values. */
#define FORETRACE_PICK_(a, b, c, d, e, f, name, ...) name
#define FORETRACE_OPERATION_(...) \
    FORETRACE_PICK_(__VA_ARGS__, FORETRACE_GIVEN_4_, FORETRACE_GIVEN_3_, FORETRACE_GIVEN_2_, FORETRACE_GIVEN_1_, FORETRACE_GIVEN_0_, )
#define FORETRACE_GIVEN_0_(mark, object, method) mark(object, method)
#define FORETRACE_GIVEN_1_(mark, object, method, a) (FORETRACE_GIVE_(a), mark(object, method))
#define FORETRACE_GIVEN_2_(mark, object, method, a, b) (FORETRACE_GIVE_(a), FORETRACE_GIVE_(b), mark(object, method))
#define FORETRACE_GIVEN_3_(mark, object, method, a, b, c) \
    (FORETRACE_GIVE_(a), FORETRACE_GIVE_(b), FORETRACE_GIVE_(c), mark(object, method))
#define FORETRACE_GIVEN_4_(mark, object, method, a, b, c, d) \
    (FORETRACE_GIVE_(a), FORETRACE_GIVE_(b), FORETRACE_GIVE_(c), FORETRACE_GIVE_(d), mark(object, method))
#define FORETRACE_CALL(...) FORETRACE_OPERATION_(__VA_ARGS__)(FORETRACE_CALL_, __VA_ARGS__)
#define FORETRACE_RETURN(...) FORETRACE_OPERATION_(__VA_ARGS__)(FORETRACE_RETURN_, __VA_ARGS__)

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

#if __cplusplus >= 201103L
/* What it calls counts as a part of the function that has the mark, at its line. */
#ifdef __clang__
#define FORETRACE_HERE_ __attribute__((always_inline, nodebug)) inline
#else
#define FORETRACE_HERE_ inline
#endif

/* What kind of value a recording has of a type. */
template <class Number> struct kind { enum { number = 0 }; };
template <> struct kind<bool> { enum { number = 2 }; };

/* An operation from here to the end of the scope. */
class operation {
public:
    template <class... Arguments>
    FORETRACE_HERE_ operation(const void *object, const char *method, const Arguments &...arguments) : object_(object), method_(method) {
        const int given[] = {0, (give(arguments, 0), 0)...};
        (void)given;
        FORETRACE_CALL_(object_, method_);
    }
    operation(const operation &) = delete;
    operation &operator=(const operation &) = delete;
    FORETRACE_HERE_ ~operation() {
        if (!ended_)
            say(0, 1);
        FORETRACE_RETURN_(object_, method_);
    }

    /* What the operation gives: a number, a truth value, or an optional one. It ends with the scope. */
    template <class Result> FORETRACE_HERE_ Result returns(Result result) {
        give(result, 0);
        ended_ = true;
        return result;
    }

    /* It gives nothing. */
    FORETRACE_HERE_ void returns() {
        say(0, 3);
        ended_ = true;
    }

private:
    static FORETRACE_HERE_ void say(unsigned long long value, unsigned long long given) {
#ifdef __FORETRACE__
        foretrace_value(value, given);
#else
        (void)value, (void)given;
#endif
    }
    template <class Optional> static FORETRACE_HERE_ auto give(const Optional &value, int) -> decltype(value.has_value(), void()) {
        if (value.has_value())
            give(*value, 0);
        else
            say(0, 3);
    }
    template <class Number> static FORETRACE_HERE_ void give(const Number &value, long) { say((unsigned long long)value, kind<Number>::number); }

    const void *object_;
    const char *method_;
    bool ended_ = false;
};
#endif

} // namespace foretrace
#endif

#endif
