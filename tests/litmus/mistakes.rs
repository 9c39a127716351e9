//! Mistakes in programs: the message, and the place that it points at.

use foretrace::litmus::{Diagnostic, Diagnostics, parse};

fn mistakes(source: &str) -> Diagnostics {
    parse(source).expect_err("the program has mistakes")
}

/// Checks the message of a program's only mistake; its place is between `«` and `»`, which are not part of the
/// program.
#[track_caller]
fn check(marked: &str, message: &str, note: &str) -> Diagnostic {
    let start = marked.find('«').expect("a marked place");
    let end = marked.find('»').expect("a marked place") - '«'.len_utf8();
    let Diagnostics(mut errors) = mistakes(&marked.replace(['«', '»'], ""));
    assert_eq!(errors.len(), 1, "{errors:?}");
    let error = errors.remove(0);
    assert_eq!((&*error.message, &*error.place.1), (message, note));
    assert_eq!(error.place.0.range(), start..end, "{message}");
    error
}

#[test]
fn tokens() {
    check("thread T { «@» }", "unexpected character `@`", "no part of the language starts so");
    check("«/*» thread T { }", "a comment without an end", "expected `*/` after this");
    check("thread T { atomic «\"a »\n\" { } }", "a text without an end", "expected `\"` on the same line");
    let digits = "expected decimal digits, `0x` with hexadecimal or `0b` with binary ones";
    check("shared x: int = «0b12»;", "`0b12` is not a number", digits);
    check("shared x: int = «0x»;", "`0x` is not a number", digits);
    check("shared x: int = «12a»;", "`12a` is not a number", digits);
    let long = format!("shared x: int = «{}»;", "1".repeat(1001));
    check(&long, "a number of 1001 digits", "expected at most 1000 digits");
}

#[test]
fn declarations() {
    let items = "expected `shared`, `mutex`, `rwlock`, `condvar`, `semaphore`, `barrier`, `once`, `thread`, `fn` or `operation`";
    check("«let» x = 1;", &format!("{items}, found `let`"), items);
    check("shared x«=» 1;", "expected `:`, found `=`", "expected `:`");
    let sorts = "expected a type: `int`, `bool`, or `bv1` to `bv64`";
    check("shared x: «bv65»;", &format!("{sorts}, found `bv65`"), sorts);
    check("shared x: «uint»;", &format!("{sorts}, found `uint`"), sorts);
    let length = "expected the number of elements from 1 to 65536";
    check("shared x: int[«0»];", &format!("{length}, found `0`"), length);
    check("recursive «rwlock» q;", "expected `mutex`, found `rwlock`", "expected `mutex`");
    check("semaphore s«;»", "expected `=`, found `;`", "expected `=`");
    let name = "expected a name for the thread";
    let error = check("thread «while» { }", &format!("{name}, found `while`"), name);
    assert_eq!(error.help.as_deref(), Some("`while` is a keyword"));
}

#[test]
fn statements() {
    let end = "expected an operator or `;`";
    check("shared x: int; thread T { x = 1 «}»", &format!("{end}, found `}}`"), end);
    check("shared x: int; thread T { x = 1 «x» = 2; }", &format!("{end}, found `x`"), end);
    check("thread T { x «+» 1; }", "expected `=`, `[` or `(`, found `+`", "expected `=`, `[` or `(`");
    check("thread T { let r = «;» }", "expected an expression, found `;`", "expected an expression");
    check("thread T { if «x» > 1 { } }", "expected `(`, found `x`", "expected `(`");
    check("thread T { if (x > 1) «y» = 2; }", "expected `{`, found `y`", "expected `{`");
    check("thread T { f(1 «2»); }", "expected an operator, `,` or `)`, found `2`", "expected an operator, `,` or `)`");
    check("thread T { spawn «1»; }", "expected the name of a thread, found `1`", "expected the name of a thread");
    let statement = "expected a statement (an assignment, a call, `let`, `atomic`, `if`, `while`, `assert`, `spawn`, \
                     `join`, `return`) or `}`";
    check("thread T { «else» { } }", &format!("{statement}, found `else`"), statement);
    check("thread T { x = (1 + 2«;» }", "expected an operator or `)`, found `;`", "expected an operator or `)`");
    check(
        "thread T { let r = 1 < 2 «<» 3; }",
        "a comparison of a comparison",
        "expected `&&`, `||` or parentheses before this",
    );
}

#[test]
fn names() {
    let error = check("shared count: int; thread T { «cuont» = 1; }", "unknown name `cuont`", "expected a variable");
    assert_eq!(error.help.as_deref(), Some("did you mean `count`?"));
    let error =
        check("shared x: int; thread T { let total = 1; x = «totl»; }", "unknown name `totl`", "expected a variable");
    assert_eq!(error.help.as_deref(), Some("did you mean `total`?"));
    let error = check(
        "mutex m; thread T { «lokc(m)»; }".replace("«lokc(m)»", "«lokc»(m)").as_str(),
        "unknown name `lokc`",
        "expected a function",
    );
    assert_eq!(error.help.as_deref(), Some("did you mean `lock`?"));
    check("thread T { spawn «U»; }", "unknown name `U`", "expected a thread");
    check("shared x: int; thread T { lock(«x»); }", "`x` is a shared variable, not a mutex", "expected a mutex");
    check("rwlock q; thread T { lock(«q»); }", "`q` is a rwlock, not a mutex", "expected a mutex");
    check("mutex m; thread T { let r = «m» + 1; }", "`m` is a mutex, not a variable", "expected a variable");
    check("fn f() { } thread T { join «f»; }", "`f` is a function, not a thread", "expected a thread");
    check(
        "thread T { let r = 1; fetch_add(«r», 1); }",
        "`r` is a local variable, not a shared one",
        "expected a shared variable",
    );
    // A local variable ends with its block.
    check("shared x: int; thread T { if (true) { let r = 1; } x = «r»; }", "unknown name `r`", "expected a variable");
}

#[test]
fn duplicates() {
    let error = check("shared x: int; mutex «x»; thread T { }", "`x` is defined twice", "defined again here");
    let (first, note) = error.related.expect("the first definition");
    assert_eq!((first.range(), &*note), (7..8, "first defined here"));
    let error = check("shared x: int; thread T { let «x» = 1; }", "`x` is defined twice", "defined again here");
    assert_eq!(error.related.expect("the first definition").0.range(), 7..8);
    check("thread T { let a = 1; if (true) { let «a» = 2; } }", "`a` is defined twice", "defined again here");
    check("fn f(a: int, «a»: bool) { } thread T { }", "`a` is defined twice", "defined again here");
    check("fn «lock»() { } thread T { }", "`lock` is a function of the language", "expected another name");
}

#[test]
fn types() {
    check("shared x: int; thread T { x = «true»; }", "expected int, found bool", "has type bool");
    check("shared x: int; thread T { if («x») { } }", "expected bool, found int", "has type int");
    check(
        "shared x: int; shared w: bv8; thread T { x = x + «w»; }",
        "`+` of int and bv8",
        "has type bv8, expected int",
    );
    check("shared w: bv8; thread T { w = «256»; }", "a number that does not fit bv8", "expected -2^7 to 2^8 - 1");
    check(
        "shared w: bv8; thread T { if (w == «-129») { } }",
        "a number that does not fit bv8",
        "expected -2^7 to 2^8 - 1",
    );
    check("shared b: bool; thread T { b = b «+» b; }", "`+` of bool", "expected int or words (bv1 to bv64)");
    check("shared x: int; thread T { x = x «<<» 1; }", "`<<` of int", "expected words (bv1 to bv64)");
    check("shared x: int; thread T { x = ~«x»; }", "`~` of int", "expected a word (bv1 to bv64)");
    check("shared b: bool; thread T { b = -«b»; }", "`-` of bool", "expected int or a word");
    check("shared a: int[2]; thread T { «a» = 1; }", "`a` is an array", "expected `[` and an index after this");
    check("shared x: int; thread T { x[«0»] = 1; }", "`x` is no array", "only a shared array has elements");
    check("shared a: int[2]; thread T { a[«true»] = 1; }", "expected int, found bool", "has type bool");
    check("shared x: bool = «1»; thread T { }", "expected bool, found int", "has type int");
    check("shared a: int[2] = «[1, 2, 3]»; thread T { }", "3 initial values", "expected 2");
    check("thread T { let r: bv4 = «true»; }", "expected bv4, found bool", "has type bool");
    check("mutex m; thread T { let r = «lock(m)»; }", "`lock` gives no value", "expected an expression");
    check("mutex m; thread T { «lock(m, m)»; }", "`lock` takes 1 argument, found 2", "expected `lock(mutex)`");
    check(
        "shared w: bv8; thread T { w = truncate(w, «9»); }",
        "not a width that fits",
        "expected a number from 1 to 8",
    );
}

#[test]
fn functions() {
    check("fn f(a: int) { } thread T { «f()»; }", "`f` takes 1 argument, found 0", "expected 1 argument");
    check("fn f(a: int) { } thread T { f(«true»); }", "expected int, found bool", "has type bool");
    check(
        "fn f() -> int { if (true) { return 1; } «}» thread T { }",
        "`f` can end without a value",
        "expected `return` before this",
    );
    check("fn f() -> int { «return»; } thread T { }", "a `return` without a value", "expected int after this");
    check("fn f() { return «1»; } thread T { }", "a value from a function that gives none", "expected `;`");
    check("thread T { return «1»; }", "a value from a thread", "expected `;`");
}

#[test]
fn programs_without_a_start() {
    check("shared x: int«;»", "a program without a thread", "expected `thread` and a name after this");
    check("// all that is missing «…»", "a program without a thread", "expected `thread` and a name after this");
    let missing = "// all that is missing …";
    let shown = mistakes(missing).render("empty.lit", missing, false);
    assert!(shown.contains("empty.lit:1:24"), "{shown}");
    check(
        "thread T { spawn T; «}»",
        "no thread starts: each waits for a `spawn`",
        "expected a thread that no `spawn` names",
    );
}

#[test]
fn every_mistake_of_the_checks_is_told_in_order() {
    let Diagnostics(errors) = mistakes("thread T { x = 1; spawn U; let r = true + y; if (z) { } } mutex T;");
    let messages: Vec<_> = errors.iter().map(|error| &*error.message).collect();
    let expected =
        ["unknown name `x`", "unknown name `U`", "unknown name `y`", "unknown name `z`", "`T` is defined twice"];
    assert_eq!(messages, expected);
}

#[test]
fn what_follows_from_a_mistake_is_not_told() {
    let Diagnostics(errors) = mistakes("shared x: int; thread T { let r = y; x = r + 1; if (r) { x = r; } }");
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[test]
fn the_excerpt_points_at_the_place() {
    let source = "shared x: int;\nmutex x;\nthread T {\n    x = 1;\n}\n";
    let rendered = mistakes(source).render("two.lit", source, false);
    let expected = "\
Error: `x` is defined twice
   ╭─[ two.lit:2:7 ]
   │
 1 │ shared x: int;
   │        ┬  
   │        ╰── first defined here
 2 │ mutex x;
   │       ┬  
   │       ╰── defined again here
───╯
";
    assert_eq!(rendered, expected);
}

#[test]
fn a_long_line_is_not_shown() {
    let source = format!("shared x: int; thread T {{ x = {} + true; }}", vec!["1"; 150].join(" + "));
    let rendered = mistakes(&source).render("long.lit", &source, false);
    assert_eq!(rendered, "Error: `+` of int and bool: has type bool, expected int\n  at long.lit:1:631\n");
}

#[test]
fn many_mistakes_are_counted() {
    let source = format!("thread T {{ {} }}", "x = 1;\n".repeat(25));
    let rendered = mistakes(&source).render("many.lit", &source, false);
    assert_eq!(rendered.matches("unknown name `x`").count(), 20);
    assert!(rendered.ends_with("5 more errors in many.lit\n"), "{rendered}");
}

/// Deep nesting of every kind is refused with a clear message, whatever else is wrong.
#[test]
fn deep_nesting() {
    let n = 100_000;
    let programs = [
        format!("thread T {{ let r = {}1{}; }}", "(".repeat(n), ")".repeat(n)),
        format!("thread T {{ let r = {}", "(".repeat(n)),
        format!("thread T {{ {}", "if(true){".repeat(n)),
        format!("thread T {{ {}", "atomic {".repeat(n)),
        format!("thread T {{ let r = {}true; }}", "!".repeat(n)),
        format!("thread T {{ let r = {}1; }}", "-".repeat(n)),
        format!("thread T {{ let r = 1{}; }}", " + 1".repeat(n)),
        format!("thread T {{ let r = {}", "f(".repeat(n)),
        format!("thread T {{ let r = {}", "a[".repeat(n)),
        format!("thread T {{ let r = {}", "1 * (".repeat(n)),
        format!("shared x: int = {}1;", "-".repeat(n)),
    ];
    for program in &programs {
        let Diagnostics(errors) = mistakes(program);
        assert_eq!(errors[0].message, "the program nests too deep here", "{}", &program[..30]);
        assert_eq!(errors[0].place.1, "expected at most 200 levels of nesting");
        assert!(!errors[0].place.0.range().is_empty());
    }
}

#[test]
fn nesting_up_to_the_limit_is_fine() {
    let n = 190;
    assert!(parse(&format!("thread T {{ let r = {}1{}; }}", "(".repeat(n), ")".repeat(n))).is_ok());
    assert!(parse(&format!("thread T {{ {} {} }}", "atomic {".repeat(n), "}".repeat(n))).is_ok());
    assert!(parse(&format!("thread T {{ let r = 1{}; }}", " + 1".repeat(n))).is_ok());
}

#[test]
fn else_if_and_statements_do_not_nest() {
    let program = format!("shared x: int; thread T {{ if (x == 1) {{ }} {} }}", "else if (x == 2) { } ".repeat(20_000));
    assert!(parse(&program).is_ok());
    assert!(parse(&format!("shared x: int; thread T {{ {} }}", "x = 1; ".repeat(100_000))).is_ok());
}

#[test]
fn long_programs_are_refused() {
    let Diagnostics(errors) = mistakes(&" ".repeat((1 << 20) + 1));
    assert_eq!(errors[0].message, "a program of 1048577 bytes");
}
