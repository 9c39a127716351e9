//! Every kind of bad input is one clear error with its place.

use foretrace_trace::{Format, LINE_LIMIT, Layout, Trace, read, read_from, write_to};
use std::io::Read;

const HEADER: &str = r#"{"foretrace":1,"data":"symbolic","vars":{"x":{"sort":"Int","init":0},"b":{"sort":"Bool","init":false},"w":{"sort":{"BitVec":8},"init":0}},"sync":{"m":{"kind":"mutex"},"n":{"kind":"mutex"},"r":{"kind":"mutex","recursive":true},"rw":{"kind":"rwlock"},"s":{"kind":"semaphore","init":0},"c":{"kind":"condvar"},"d":{"kind":"condvar"},"bar":{"kind":"barrier","parties":1}},"threads":{"7":{"name":"seven"}}}"#;
const CONCRETE: &str = r#"{"foretrace":1,"data":"concrete","vars":{"x":{"sort":"Int","init":0}}}"#;
const NONE: &str = r#"{"foretrace":1,"data":"none"}"#;

fn parse(text: impl AsRef<[u8]>) -> Result<Trace, String> {
    read_from(text.as_ref(), "t.jsonl").map_err(|error| error.to_string())
}

/// The events under the symbolic header.
fn events(lines: &[&str]) -> Result<Trace, String> {
    under(HEADER, lines)
}

fn under(header: &str, lines: &[&str]) -> Result<Trace, String> {
    parse(format!("{header}\n{}\n", lines.join("\n")))
}

/// The last of these events, and only it, is wrong: this is the message from the event's index on.
#[track_caller]
fn refused(header: &str, lines: &[&str], message: &str) {
    let index = lines.len() - 1;
    let expected = format!("t.jsonl:{}: event {index}: {message}", index + 2);
    assert_eq!(under(header, lines).expect_err("a mistake"), expected);
    under(header, &lines[..index]).expect("the events before are right");
}

#[track_caller]
fn header_refused(header: &str, message: &str) {
    assert_eq!(parse(format!("{header}\n")).expect_err("a mistake"), format!("t.jsonl:1: {message}"));
}

#[test]
fn truncated_and_corrupt_text() {
    assert_eq!(parse("").expect_err("nothing"), "t.jsonl: found an empty file, expected a trace");
    assert_eq!(parse("\n \n").expect_err("nothing"), "t.jsonl: found an empty file, expected a trace");
    refused(
        HEADER,
        &[r#"{"t":1,"op":"begin"}"#, r#"{"t":1,"op":"en"#],
        "found a JSON object that breaks off at column 15, expected a whole JSON object on the line",
    );
    refused(
        HEADER,
        &[r#"{"t":1,"op":"begin"} x"#],
        "found no JSON object at column 22 (trailing characters), expected a JSON object",
    );
    refused(HEADER, &["[1]"], "found `[1]`, expected a JSON object");
    let message = parse(format!("{HEADER}\n\n{}\n", r#"{"t":1,"op":"begin"}"#)).expect_err("a gap");
    assert_eq!(message, "t.jsonl:2: event 0: found an empty line, expected one event a line");
    parse(format!("{HEADER}\n\n\n")).expect("empty lines at the end do no harm");
    let mut bytes = format!("{HEADER}\n{{\"t\":1,\"op\":\"begin\",\"label\":\"").into_bytes();
    bytes.extend_from_slice(b"\xFF\"}\n");
    let message = parse(bytes).expect_err("no UTF-8");
    assert_eq!(message, "t.jsonl:2: event 0: found bytes that are no UTF-8 at column 30, expected UTF-8 text");
}

/// Compressed, a gigabyte of them has some kilobytes.
#[test]
fn gigabytes_of_empty_lines_are_not_read() {
    let endless = std::io::repeat(b'\n').take(100 << 30);
    let message = read_from(format!("{HEADER}\n").as_bytes().chain(endless), "t.jsonl");
    let message = message.expect_err("too many").to_string();
    assert!(message.ends_with("found more than 65536 bytes of empty lines, expected one event a line"), "{message}");
}

#[test]
fn lines_of_gigabytes_are_not_read() {
    let endless = std::io::repeat(b'x').take(100 << 30);
    let message = read_from(format!("{HEADER}\n{{\"t\":1,\"op\":\"").as_bytes().chain(endless), "t.jsonl");
    let expected = format!("t.jsonl:2: event 0: found a line of more than {LINE_LIMIT} bytes, expected shorter lines");
    assert_eq!(message.expect_err("no line").to_string(), expected);
}

#[test]
fn values_do_not_grow_without_end() {
    let squares = r#"{"t":1,"op":"let","dst":"a","expr":"(* a a)"}"#;
    let mut lines = vec![r#"{"t":1,"op":"let","dst":"a","expr":"2"}"#];
    lines.extend([squares; 60]); // 2 to the power of 2 to the power of 60
    let found = "a value of more than 4194304 bits";
    let message = under(HEADER, &lines).expect_err("too large");
    assert_eq!(message, format!("t.jsonl:24: event 22: found {found}, expected smaller ones"));
    let nested = (0..60).fold("2".to_string(), |value, _| format!("(let ((a {value})) (* a a))"));
    let message = events(&[&format!(r#"{{"t":1,"op":"assume","expr":"(> {nested} 0)"}}"#)]).expect_err("too large");
    assert_eq!(message, format!("t.jsonl:2: event 0: found {found}, expected smaller ones"));
    let zero = (0..60).fold("0".to_string(), |value, _| format!("(let ((a {value})) (* a a))"));
    events(&[&format!(r#"{{"t":1,"op":"assume","expr":"(= {zero} 0)"}}"#)]).expect("zero stays zero");
}

#[test]
fn missing_files() {
    let message = read("no/such/file.jsonl".as_ref()).expect_err("no file").to_string();
    assert!(message.starts_with("no/such/file.jsonl: "), "{message}");
}

#[test]
fn headers() {
    header_refused(r#"{"data":"none"}"#, "found a JSON object without `foretrace`, expected a trace's header");
    header_refused(r#"{"foretrace":2,"data":"x"}"#, "found format version `2`, expected format version `1`");
    header_refused(r#"{"foretrace":1}"#, r#"found no `data`, expected `data`: "symbolic", "concrete" or "none""#);
    header_refused(
        r#"{"foretrace":1,"data":"some"}"#,
        r#"found `some` as `data`, expected `data`: "symbolic", "concrete" or "none""#,
    );
    let vars = |vars: &str| format!(r#"{{"foretrace":1,"data":"symbolic","vars":{{{vars}}}}}"#);
    header_refused(&vars(r#""x":{"init":0}"#), "found variable `x` with `init` but no `sort`, expected `sort`");
    header_refused(
        &vars(r#""x":{"sort":"Int"}"#),
        "found variable `x` without `init`, expected `init` (only `data` none can do without)",
    );
    header_refused(
        &vars(r#""x":{"sort":"Real","init":0}"#),
        r#"found the sort `"Real"` in variable `x`, expected "Int", "Bool" or {"BitVec": 1 to 64}"#,
    );
    for width in ["0", "65", "8.0", "-1"] {
        let found = format!(r#"found the sort `{{"BitVec":{width}}}` in variable `x`"#);
        header_refused(
            &vars(&format!(r#""x":{{"sort":{{"BitVec":{width}}},"init":0}}"#)),
            &format!(r#"{found}, expected "Int", "Bool" or {{"BitVec": 1 to 64}}"#),
        );
    }
    header_refused(
        &vars(r#""x":{"sort":{"BitVec":8},"init":256}"#),
        "found `256` as `init` in variable `x`, expected an integer from 0 to 255 (8 bits)",
    );
    header_refused(
        &vars(r#""x":{"sort":"Int","init":0},"x":{"sort":"Int","init":1}"#),
        "found the key `x` twice in `vars`, expected each key once",
    );
    let sync = |sync: &str| format!(r#"{{"foretrace":1,"data":"none","sync":{{{sync}}}}}"#);
    header_refused(
        &sync(r#""m":{"kind":"spinlock"}"#),
        "found the kind `spinlock` in synchronisation object `m`, expected `kind`: mutex, rwlock, semaphore, condvar, barrier or once",
    );
    header_refused(
        &sync(r#""m":{"kind":"rwlock","recursive":true}"#),
        "found `recursive` of synchronisation object `m`, expected only the fields of a rwlock",
    );
    header_refused(
        &sync(r#""s":{"kind":"semaphore","init":-1}"#),
        "found `-1` as `init` in synchronisation object `s`, expected an integer from 0 to 18446744073709551615",
    );
    for thread in ["0", "-1", "x", "01", "1.0"] {
        header_refused(
            &format!(r#"{{"foretrace":1,"data":"none","threads":{{"{thread}":{{}}}}}}"#),
            &format!("found thread `{thread}`, expected a positive thread number"),
        );
    }
}

#[test]
fn fields_of_events() {
    refused(HEADER, &[r#"{"op":"begin"}"#], "found an event without `t`, expected `t`");
    refused(HEADER, &[r#"{"t":1}"#], "found an event without `op`, expected `op`");
    refused(HEADER, &[r#"{"t":1,"op":"jump"}"#], "found the unknown `op` `jump`, expected a kind of event");
    refused(HEADER, &[r#"{"t":1,"op":"read"}"#], "found a `read` without `var`, expected `var`");
    refused(HEADER, &[r#"{"t":1,"t":1,"op":"begin"}"#], "found the key `t` twice, expected each key once");
    refused(
        HEADER,
        &[r#"{"t":1,"op":"read","var":"x","lock":"m"}"#],
        "found `lock` on `read` events, expected only the fields of `read` events",
    );
    for thread in ["0", "-1", "1.0", "1e3", "18446744073709551616", "\"1\""] {
        refused(
            HEADER,
            &[&format!(r#"{{"t":{thread},"op":"begin"}}"#)],
            &format!("found `{thread}` as `t`, expected an integer from 1 to 18446744073709551615"),
        );
    }
    refused(
        HEADER,
        &[r#"{"t":1,"op":"read","var":"y"}"#],
        "found unknown variable `y`, expected a variable that the header declares",
    );
    refused(
        HEADER,
        &[r#"{"t":1,"op":"acquire","lock":"l"}"#],
        "found unknown synchronisation object `l`, expected an object that the header declares",
    );
    refused(
        HEADER,
        &[r#"{"t":1,"op":"acquire","lock":"s"}"#],
        "found an `acquire` on semaphore `s`, expected a mutex or rwlock",
    );
    refused(
        HEADER,
        &[r#"{"t":1,"op":"acquire_shared","lock":"m"}"#],
        "found an `acquire_shared` on mutex `m`, expected a rwlock",
    );
    refused(HEADER, &[r#"{"t":1,"op":"post","sem":"bar"}"#], "found a `post` on barrier `bar`, expected a semaphore");
    refused(HEADER, &[r#"{"t":1,"op":"signal","cond":"m"}"#], "found a `signal` on mutex `m`, expected a condvar");
    refused(
        HEADER,
        &[r#"{"t":1,"op":"arrive","barrier":"c","round":0}"#],
        "found an `arrive` on condvar `c`, expected a barrier",
    );
    let deep = format!(r#"{{"t":1,"op":"call","method":"f","args":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    refused(HEADER, &[&deep], "found `args` nested deeper than 100, expected less nesting");
    let deep = format!(r#"{{"t":1,"op":"begin","later":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    refused(HEADER, &[&deep], "found `later` nested deeper than 100, expected less nesting");
    events(&[r#"{"t":1,"op":"begin","later":{"a":[1]}}"#]).expect("fields of later versions are passed over");
}

#[test]
fn values() {
    let read = |var: &str, value: &str| format!(r#"{{"t":1,"op":"read","var":"{var}","value":{value}}}"#);
    for value in ["0.0", "0e0", "true", "\"0\"", "null"] {
        refused(HEADER, &[&read("x", value)], &format!("found `{value}` as `value`, expected an integer"));
    }
    refused(HEADER, &[&read("b", "0")], "found `0` as `value`, expected true or false");
    for value in ["256", "-1", "1000000000000000000000000"] {
        refused(
            HEADER,
            &[&read("w", value)],
            &format!("found `{value}` as `value`, expected an integer from 0 to 255 (8 bits)"),
        );
    }
    let huge = "1".repeat(1_000_001);
    let shown = "1".repeat(60);
    refused(
        HEADER,
        &[&read("x", &huge)],
        &format!("found `{shown}…` as `value`, expected an integer of at most 1000000 digits"),
    );
    refused(
        NONE,
        &[r#"{"t":1,"op":"read","var":"x","value":1}"#],
        "found `value`, expected neither values nor expressions (`data` is none)",
    );
    refused(
        NONE,
        &[r#"{"t":1,"op":"assume","expr":"true"}"#],
        "found `expr`, expected neither values nor expressions (`data` is none)",
    );
    refused(
        CONCRETE,
        &[r#"{"t":1,"op":"read","var":"x"}"#],
        "found a `read` without `value`, expected `value` (`data` is concrete)",
    );
    refused(
        CONCRETE,
        &[r#"{"t":1,"op":"rmw","var":"x","dst":"r","value":0}"#],
        "found an `rmw` without `stored`, expected `stored` (`data` is concrete)",
    );
    refused(
        CONCRETE,
        &[r#"{"t":1,"op":"write","var":"x","value":1,"expr":"1"}"#],
        "found `expr`, expected no expressions (`data` is concrete)",
    );
    refused(
        CONCRETE,
        &[r#"{"t":1,"op":"let","dst":"a","expr":"1"}"#],
        "found a `let`, expected no expressions (`data` is concrete)",
    );
    refused(
        HEADER,
        &[r#"{"t":1,"op":"write","var":"x"}"#],
        "found a `write` without `expr` and `value`, expected `expr` (`data` is symbolic)",
    );
}

#[test]
fn expressions() {
    let assume = |expr: &str| format!(r#"{{"t":1,"op":"assume","expr":"{expr}"}}"#);
    refused(HEADER, &[&assume("(< 1 2")], "found the end of the expression at column 7 of `expr`, expected a term");
    refused(
        HEADER,
        &[&assume("(bvult 1 2)")],
        "found argument 1 of `bvult` of sort Int at column 1 of `expr`, expected sort (_ BitVec n)",
    );
    refused(HEADER, &[&assume("(+ 1 2)")], "found `expr` of sort Int, expected sort Bool");
    refused(
        HEADER,
        &[r#"{"t":1,"op":"write","var":"x","expr":"true"}"#],
        "found `expr` of sort Bool, expected sort Int of variable `x`",
    );
    let unknown = "found unknown name `a` at column 4 of `expr`, expected a name that the thread has defined before";
    refused(HEADER, &[r#"{"t":2,"op":"read","var":"x","dst":"a"}"#, &assume("(= a 0)")], unknown);
    refused(HEADER, &[r#"{"t":1,"op":"let","dst":"a","expr":"(+ a 1)"}"#], unknown);
    let deep = format!("{}true{}", "(not ".repeat(100_000), ")".repeat(100_000));
    refused(
        HEADER,
        &[&assume(&deep)],
        "found terms nested deeper than 10000 at column 50001 of `expr`, expected less nesting (name parts by `let`)",
    );
    refused(
        HEADER,
        &[r#"{"t":1,"op":"let","dst":"a|b","expr":"1"}"#],
        "found the local name `a|b`, expected a name without `|` and `\\`",
    );
    events(&[
        r#"{"t":1,"op":"let","dst":"a","expr":"1"}"#,
        r#"{"t":1,"op":"let","dst":"a","expr":"(+ a 1)"}"#,
        r#"{"t":1,"op":"read","var":"x","dst":"a b","guard":"(= |a b| 0)"}"#,
        r#"{"t":1,"op":"rmw","var":"x","dst":"r","expr":"(+ r a)","guard":"(= r 0)","stored":2}"#,
    ])
    .expect("a `let` uses the older definition, a guard the event's own");
}

#[test]
fn recorded_values_that_do_not_follow() {
    refused(
        HEADER,
        &[r#"{"t":1,"op":"write","var":"x","expr":"3"}"#, r#"{"t":2,"op":"read","var":"x","value":4}"#],
        "found the recorded value 4, expected 3, which it reads (x) in the recorded order",
    );
    refused(
        HEADER,
        &[r#"{"t":1,"op":"write","var":"w","expr":"(bvadd #xFF #x02)","value":2}"#],
        "found the recorded value 2, expected 1, which it writes (w) in the recorded order",
    );
    for wrong in [
        r#"{"t":1,"op":"assume","expr":"(= 1 2)"}"#,
        r#"{"t":1,"op":"read","var":"x","dst":"a","guard":"(= a 1)"}"#,
        r#"{"t":1,"op":"rmw","var":"x","dst":"a","expr":"(+ a 1)","stored":2}"#,
        r#"{"t":1,"op":"down","sem":"s"}"#,
        r#"{"t":1,"op":"busy","lock":"m"}"#,
    ] {
        let message = events(&[r#"{"t":2,"op":"begin"}"#, wrong]).expect_err(wrong);
        assert!(message.starts_with("t.jsonl:3: event 1: found "), "{message}");
        assert!(message.contains(", expected "), "{message}");
    }
}

#[test]
fn locks() {
    let on = |op: &str, lock: &str| format!(r#"{{"t":2,"op":"{op}","lock":"{lock}"}}"#);
    refused(
        HEADER,
        &[r#"{"t":1,"op":"acquire","lock":"m"}"#, &on("release", "m")],
        "found a `release` of mutex `m` by thread 2, which does not hold it, expected a lock that the thread has",
    );
    refused(
        HEADER,
        &[&on("acquire", "rw"), &on("release_shared", "rw")],
        "found a `release_shared` of rwlock `rw` by thread 2, which does not share it, expected a lock that the thread has",
    );
    refused(
        HEADER,
        &[&on("acquire", "m"), &on("acquire", "m")],
        "found an `acquire` of mutex `m` by thread 2, which has it already, expected a lock that the thread does not have, or a recursive mutex",
    );
    refused(
        HEADER,
        &[&on("acquire_shared", "rw"), &on("acquire", "rw")],
        "found an `acquire` of rwlock `rw` by thread 2, which has it already, expected a lock that the thread does not have, or a recursive mutex",
    );
    let message = events(&[r#"{"t":1,"op":"acquire","lock":"m"}"#, &on("acquire", "m")]).expect_err("held by another");
    assert!(message.starts_with("t.jsonl:3: event 1: found "), "{message}");
    let (take, give) = (on("acquire", "r"), on("release", "r"));
    events(&[&take, &take, &give, &give]).expect("a recursive mutex");
    refused(
        HEADER,
        &[&take, &take, &give, &give, &give],
        "found a `release` of mutex `r` by thread 2, which does not hold it, expected a lock that the thread has",
    );
    let (share, unshare) = (on("acquire_shared", "rw"), on("release_shared", "rw"));
    events(&[&share, &share, &unshare, &unshare]).expect("shares nest");
}

#[test]
fn waits() {
    let take = r#"{"t":1,"op":"acquire","lock":"m"}"#;
    let wait = r#"{"t":1,"op":"wait","cond":"c","lock":"m"}"#;
    let wake = |rest: &str| format!(r#"{{"t":1,"op":"wake","cond":"c","lock":"m"{rest}}}"#);
    let signal = r#"{"t":2,"op":"signal","cond":"c"}"#;
    refused(
        HEADER,
        &[wait],
        "found a `wait` of mutex `m` by thread 1, which does not hold it, expected a lock that the thread has",
    );
    refused(HEADER, &[take, &wake("")], "found a `wake` where thread 1 does not wait, expected a `wait` before");
    refused(
        HEADER,
        &[take, wait, r#"{"t":1,"op":"signal","cond":"c"}"#],
        "found a `signal` while thread 1 waits since event 1, expected a `wake` on `c` with `m`",
    );
    refused(
        HEADER,
        &[take, wait, r#"{"t":1,"op":"wake","cond":"d","lock":"m"}"#],
        "found a `wake` on `d` with `m` while thread 1 waits since event 1, expected a `wake` on `c` with `m`",
    );
    refused(
        HEADER,
        &[take, wait, &wake(r#","cause":"tired""#)],
        r#"found `tired` as `cause`, expected "timeout" or "spurious""#,
    );
    refused(
        HEADER,
        &[signal, take, wait, signal, &wake(r#","by":0"#)],
        "found `by` event 0, a `signal`, expected a `signal` or `broadcast` of `c` since event 2",
    );
    refused(
        HEADER,
        &[take, wait, signal, &wake(r#","by":9"#)],
        "found `by` event 9, which is not before, expected a `signal` or `broadcast` of `c` since event 1",
    );
    let message = events(&[take, wait, &wake("")]).expect_err("nobody signalled");
    assert!(message.starts_with("t.jsonl:4: event 2: found "), "{message}");
    events(&[take, wait, &wake(r#","cause":"timeout""#)]).expect("a timeout needs no signal");
    let (end, begin) = (r#"{"t":1,"op":"end"}"#, r#"{"t":1,"op":"begin"}"#);
    events(&[take, begin, wait, end, signal, begin, &wake(r#","by":4"#)])
        .expect("transactions stop and start in waits");
}

#[test]
fn transactions_and_operations() {
    let (begin, end) = (r#"{"t":1,"op":"begin"}"#, r#"{"t":1,"op":"end"}"#);
    let message = "found an `end` where thread 1 has no transaction open, expected a `begin` before";
    refused(HEADER, &[end], message);
    refused(HEADER, &[begin, begin, end, end, end], message);
    refused(
        HEADER,
        &[r#"{"t":1,"op":"call","method":"push"}"#, r#"{"t":1,"op":"return","method":"pop"}"#],
        "found a `return` of `pop` where thread 1 has no such operation open, expected a `call` of the same object and method before",
    );
}

#[test]
fn threads() {
    let fork = |child: u64| format!(r#"{{"t":1,"op":"fork","child":{child}}}"#);
    let join = |child: u64| format!(r#"{{"t":1,"op":"join","child":{child}}}"#);
    let two = r#"{"t":2,"op":"begin"}"#;
    refused(
        HEADER,
        &[&fork(2), &fork(2)],
        "found a second fork of thread 2, which event 0 forked, expected one fork of each thread",
    );
    refused(HEADER, &[&fork(1)], "found a fork of thread 1 by itself, expected another thread as child");
    refused(
        HEADER,
        &[two, &fork(2)],
        "found a fork of thread 2 after its first event 0, expected the fork before the child's events",
    );
    refused(
        HEADER,
        &[two, &join(3)],
        "found a join of unknown thread 3, expected a thread that was forked, has events or is described in the header",
    );
    refused(
        HEADER,
        &[&fork(2), two, &join(2), two],
        "found an event of thread 2 after its join at event 2, expected no event of a thread after its join",
    );
    events(&[&fork(2), &join(2), &join(7)]).expect("a thread without events can be joined");
}

#[test]
fn barriers_and_parts() {
    let arrive = r#"{"t":1,"op":"arrive","barrier":"bar","round":0}"#;
    refused(
        HEADER,
        &[arrive, r#"{"t":2,"op":"arrive","barrier":"bar","round":0}"#],
        "found arrive number 2 in round 0 of barrier `bar`, expected at most 1, one of each party",
    );
    let part = |k: u32, n: u32| format!(r#"{{"t":1,"op":"read","var":"x","part":[{k},{n}]}}"#);
    refused(HEADER, &[&part(2, 2)], "found part [2,2] without the parts before it, expected part [1,n] first");
    refused(HEADER, &[&part(1, 2), &part(2, 3)], "found part [2,3] of thread 1, expected part [2,2] of thread 1");
    refused(HEADER, &[&part(1, 3), &part(3, 3)], "found part [3,3] of thread 1, expected part [2,3] of thread 1");
    refused(HEADER, &[&part(3, 2)], "found part [3,2], expected part [k,n] with 1 ≤ k ≤ n");
    refused(
        HEADER,
        &[&part(1, 2), r#"{"t":2,"op":"begin"}"#],
        "found an event of thread 2 that is no part, expected part [2,2] of thread 1",
    );
    refused(
        HEADER,
        &[&part(1, 2), r#"{"t":1,"op":"acquire","lock":"m","part":[2,2]}"#],
        "found an `acquire` as part [2,2], expected an event that cannot block in a later part of a step",
    );
    refused(
        HEADER,
        &[&part(1, 2), r#"{"t":1,"op":"read","var":"x","guard":"true","part":[2,2]}"#],
        "found a `read` with a guard as part [2,2], expected an event that cannot block in a later part of a step",
    );
    refused(HEADER, &[r#"{"t":1,"op":"read","var":"x","part":[1]}"#], "found `[1]` as `part`, expected [k, n]");
    events(&[&part(1, 2), &part(2, 2), &part(1, 1)]).expect("whole groups");
}

#[test]
fn objects_of_traces_without_data_come_into_being() {
    let lines = [
        r#"{"t":1,"op":"acquire","lock":"l"}"#,
        r#"{"t":1,"op":"release","lock":"l"}"#,
        r#"{"t":1,"op":"acquire_shared","lock":"l"}"#,
        r#"{"t":1,"op":"down","sem":"s"}"#,
        r#"{"t":1,"op":"post","sem":"s"}"#,
        r#"{"t":1,"op":"down","sem":"s"}"#,
        r#"{"t":1,"op":"down","sem":"s"}"#,
        r#"{"t":1,"op":"read","var":"v"}"#,
    ];
    let trace = under(NONE, &lines).expect("nothing needs a declaration");
    let mut json = Vec::new();
    write_to(&mut json, &trace, Format::JSONL).expect("memory");
    let header = String::from_utf8(json).expect("UTF-8").lines().next().expect("a header").to_string();
    let sync = r#""sync":{"l":{"kind":"rwlock"},"s":{"kind":"semaphore","init":2}}"#;
    assert_eq!(header, format!(r#"{{"foretrace":1,"data":"none","vars":{{"v":{{}}}},{sync},"threads":{{}}}}"#));
    refused(NONE, &[lines[0], r#"{"t":1,"op":"post","sem":"l"}"#], "found a `post` on mutex `l`, expected a semaphore");
}

#[test]
fn std_text() {
    let std = |text: &str| parse(text).map_err(|error| error.trim_start_matches("t.jsonl").to_string());
    let trace = std("T0|fork(T1)|1\nT0|acq(L)|2\nT0|acq(L)|2\nT0|w(V1)|3\nT0|rel(L)|4\nT0|rel(L)|4\nT1|begin|5\nT1|r(V1)\nT1|end(x)|6\nT0|join(T1)|7\n")
        .expect("a good trace");
    assert_eq!(trace.events.len(), 10);
    assert_eq!(
        trace.threads.iter().map(|t| (t.number, t.name.as_deref())).collect::<Vec<_>>(),
        [(1, Some("T0")), (2, Some("T1"))]
    );
    for (text, expected) in [
        (
            "hello\n",
            ":1: event 0: found `hello`, expected a trace: JSON Lines, the binary form, or `thread|operation(operand)|location`",
        ),
        ("T0|r(x)|1\nhello\n", ":2: event 1: found `hello`, expected `thread|operation(operand)|location`"),
        (
            "T0|jump(x)|1\n",
            ":1: event 0: found `jump(x)`, expected r(x), w(x), acq(l), rel(l), fork(t), join(t), begin or end",
        ),
        ("T0|r(x|1\n", ":1: event 0: found `r(x`, expected r(x), w(x), acq(l), rel(l), fork(t), join(t), begin or end"),
        ("T0|r()|1\n", ":1: event 0: found `r()`, expected r(x), w(x), acq(l), rel(l), fork(t), join(t), begin or end"),
        (
            "T0|rel(L)|1\n",
            ":1: event 0: found a `release` of mutex `L` by thread 1, which does not hold it, expected a lock that the thread has",
        ),
        (
            "T0|begin|1\nT0|join(T9)|2\n",
            ":2: event 1: found a join of unknown thread `T9`, expected a thread that was forked or has events",
        ),
        ("T0|end|1\n", ":1: event 0: found an `end` where thread 1 has no transaction open, expected a `begin` before"),
    ] {
        assert_eq!(std(text).expect_err(text), expected);
    }
}

fn binary() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/traces/bank-seed1.thread.jsonl");
    let mut bytes = Vec::new();
    let trace = read(path.as_ref()).expect("a good trace");
    write_to(&mut bytes, &trace, Format { layout: Layout::Binary, compressed: false }).expect("memory");
    bytes
}

#[test]
fn every_cut_of_a_binary_file_is_refused() {
    let bytes = binary();
    for length in 1..bytes.len() {
        parse(&bytes[..length]).expect_err("a part is no trace");
    }
    let message = parse(&bytes[..bytes.len() - 1]).expect_err("cut off");
    let expected = format!(
        "t.jsonl: found the end of the file after {} bytes, expected more of the trace (is the file cut off?)",
        bytes.len() - 1
    );
    assert_eq!(message, expected);
    let longer = [bytes.as_slice(), b"x"].concat();
    let message = parse(longer).expect_err("too long");
    assert!(message.contains("found bytes after the end of the trace"), "{message}");
}

#[test]
fn every_damaged_byte_of_a_binary_file_is_noticed() {
    let bytes = binary();
    for position in 0..bytes.len() {
        for bit in [0x01, 0x80] {
            let mut damaged = bytes.clone();
            damaged[position] ^= bit;
            parse(&damaged).expect_err("damage");
        }
    }
    let mut later = bytes;
    later[8] = 9;
    let message = parse(&later).expect_err("another version");
    assert_eq!(message, "t.jsonl: found binary format version `9`, expected binary format version `1`");
}

#[test]
fn compressed_files_that_break_off() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/traces/bank-seed1.thread.jsonl");
    let trace = read(path.as_ref()).expect("a good trace");
    let mut bytes = Vec::new();
    write_to(&mut bytes, &trace, Format { layout: Layout::Jsonl, compressed: true }).expect("memory");
    parse(&bytes).expect("a whole file");
    for length in 1..bytes.len() {
        parse(&bytes[..length]).expect_err("a part is no trace");
    }
    let message = parse(&bytes[..bytes.len() - 1]).expect_err("the last byte is missing");
    let damaged = "found damaged compressed data (incomplete frame), expected a whole Zstandard file";
    assert_eq!(message, format!("t.jsonl:74: event 72: {damaged}"));
    assert_eq!(parse(&bytes[..20]).expect_err("a start"), format!("t.jsonl: {damaged}"));
    let twice = zstd::encode_all(bytes.as_slice(), 1).expect("memory");
    let message = parse(twice).expect_err("compressed twice");
    assert_eq!(message, "t.jsonl: found a compressed file inside a compressed file, expected a trace");
}
