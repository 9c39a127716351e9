//! Programs and libraries that are built with `_FORTIFY_SOURCE` call variants of functions that know how much room there is.

use super::support::Workshop;
use serde_json::Value;

const PROGRAM: &str = r#"
#if FORTIFIED
#define _FORTIFY_SOURCE 2
#endif
#define _GNU_SOURCE
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wchar.h>
static char text[64] = "a", from[64] = "bcdefgh", *to = text;
static wchar_t wide[8], *wide_to = wide;
static int count = 5, ends[2], pair[2];
static void *work(void *start) {
    char path[PATH_MAX], bytes[8]; struct pollfd ready = {ends[0], POLLIN, 0};
    memcpy(to, from, count); memmove(to + 1, to, count); mempcpy(to, from, count); memset(to, 0, count);
    strcpy(to, "abc"); strcat(to, from); stpcpy(to, "de"); strncpy(to, from, count); strncat(to, from, count); stpncpy(to, from, count);
    sprintf(to, "%s", from); snprintf(to, sizeof text, "%s%d", from, count);
    wmemcpy(wide_to, L"abcd", count - 1); wcscpy(wide_to, L"ab"); wcsncpy(wide_to, L"cde", count - 2); swprintf(wide_to, 8, L"%d", count);
    mbstowcs(wide_to, "ab", count - 2); wcstombs(to, wide_to, count);
    write(ends[1], "abcd", 4); poll(&ready, count - 4, -1); read(ends[0], to, count - 3);
    send(pair[1], "abcd", 4, 0); recv(pair[0], to, count - 3, 0); recvfrom(pair[0], to, count - 3, 0, 0, 0);
    getcwd(path, sizeof path); realpath("/", path); readlink("/proc/self/cwd", to, count); gethostname(to, count * 10);
    fgets(bytes, count, stdin); fread(to, 1, count, stdin); printf("%s\n", to); fprintf(stderr, "%s\n", to); explicit_bzero(to, count);
    return start;
}
int main(void) {
    pthread_t thread;
    pipe(ends); socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    pthread_create(&thread, 0, work, 0); pthread_join(thread, 0);
    return text[9] + wide[1] + text[0] == 1;
}
"#;

/// The events of a run, without the numbers of their records.
fn events(workshop: &Workshop, name: &str, options: &str) -> Vec<Value> {
    workshop.make(&format!(
        "foretrace cc -w -O2 {options} -pthread -o {name} program.c
         (echo one two three; echo four) | foretrace record -o {name}.run -- ./{name} > out.{name}"
    ));
    let mut events = workshop.trace(&format!("{name}.run"));
    events.iter_mut().filter_map(Value::as_object_mut).for_each(|event| {
        event.remove("at");
    });
    events.split_off(1)
}

#[test]
fn checked_variants_are_recorded_as_the_functions_themselves() {
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("program.c"), PROGRAM).expect("written");
    let plain = events(&workshop, "plain", "");
    assert!(plain.len() > 60, "{} events", plain.len());
    for (name, options) in [("asked", "-D_FORTIFY_SOURCE=2"), ("defined", "-DFORTIFIED=1")] {
        let fortified = events(&workshop, name, options);
        let differ = plain.iter().zip(&fortified).find(|(one, other)| one != other);
        assert_eq!(differ, None, "{name}");
        assert_eq!(plain.len(), fortified.len(), "{name}");
    }
}

const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
void take(int end, size_t count) { char bytes[4]; struct pollfd ready[2] = {{end, POLLIN, 0}}; TAKE; }
"#;

const USER: &str = r#"
#define _GNU_SOURCE
#include <foretrace.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
void take(int end, size_t count);
static int ends[2], data;
static void *give(void *unused) {
    if (!LATE) data = 1;
    write(ends[1], "x\n", 2);
    if (LATE) data = 1;
    return unused;
}
int main(void) {
    pthread_t thread;
    MAKE;
    pthread_create(&thread, 0, give, 0);
    take(ends[0], 1);
    FORETRACE_ATOMIC_BEGIN("after"); data++; FORETRACE_ATOMIC_END("after");
    pthread_join(thread, 0);
    return 0;
}
"#;

/// What the report says of the one candidate of the program, and on what that rests.
fn verdict(workshop: &Workshop, options: &str) -> (Value, Value) {
    workshop.make(&format!(
        "foretrace cc -w -pthread {options} -o user user.c ./library.so -Wl,-rpath,'$ORIGIN'
         rm -rf run; foretrace record -o run -- ./user
         foretrace predict run --candidates all --format json > report || test $? -le 1"
    ));
    let report = std::fs::read_to_string(workshop.path("report")).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let candidate = &report["candidates"][0];
    (candidate["verdict"].clone(), candidate["rests_on"].clone())
}

/// A library of another compiler takes what a thread has sent: what the thread did before comes before.
#[test]
fn checked_variants_in_a_library_order_what_comes_after_them() {
    let (pipe, pair) = ("pipe(ends)", "socketpair(AF_UNIX,SOCK_STREAM,0,ends)");
    let calls = [
        ("read", "read(end, bytes, count)", pipe, "infeasible"),
        ("poll", "poll(ready, count, -1)", pipe, "infeasible"),
        ("ppoll", "ppoll(ready, count, 0, 0)", pipe, "infeasible"),
        ("recv", "recv(end, bytes, count, 0)", pair, "infeasible"),
        ("recvfrom", "recvfrom(end, bytes, count, 0, 0, 0)", pair, "infeasible"),
        ("fgets", "fgets(bytes, count + 1, fdopen(end, \"r\"))", pipe, "unseen"),
        ("fread", "fread(bytes, 1, count, fdopen(end, \"r\"))", pipe, "unseen"),
    ];
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("library.c"), LIBRARY).expect("written");
    std::fs::write(workshop.path("user.c"), USER).expect("written");
    for (name, call, make, expected) in calls {
        workshop.make(&format!(
            "cc -w -O2 -D_FORTIFY_SOURCE=2 -shared -fPIC '-DTAKE={call}' -o library.so library.c
             grep -q __{name}_chk library.so"
        ));
        let (verdict_before, rests_on) = verdict(&workshop, &format!("-DLATE=0 '-DMAKE={make}'"));
        match expected {
            "unseen" => assert_eq!((verdict_before, rests_on), ("feasible".into(), "unseen".into()), "{name}"),
            _ => assert_eq!(verdict_before, expected, "{name}"),
        }
        let (verdict_after, rests_on) = verdict(&workshop, &format!("-DLATE=1 '-DMAKE={make}'"));
        assert_eq!(verdict_after, "feasible", "{name}");
        assert_eq!(rests_on.is_null(), expected != "unseen", "{name}");
    }
}
