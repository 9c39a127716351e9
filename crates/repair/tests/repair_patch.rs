//! Repairs as changes of the source: what is proposed, and what is refused.

use foretrace_repair::{Limits, Patch, PatchLock, Section, patch, repairs, stretches_of};
use foretrace_trace::{Data, SyncId, Trace, TraceBuilder};

/// Two threads run the same steps, one after the other but for the last access: `read LINE`, `write LINE`, `lock LINE`, `unlock LINE`
/// in `shop.c`.
fn trace(steps: &[&str]) -> Trace {
    let mut builder = TraceBuilder::new(Data::None);
    builder.fork(1, 2);
    let last = steps.iter().rposition(|step| step.starts_with("write")).expect("a write");
    let from =
        steps[..last].iter().rposition(|step| step.starts_with("lock")).filter(|_| steps[last - 1].starts_with("lock"));
    let from = from.unwrap_or(last);
    let mut order: Vec<(u64, &str)> = vec![(1, "call sell"), (2, "call sell")];
    for steps in [&steps[..from], &steps[from..]] {
        for thread in [1, 2] {
            order.extend(steps.iter().map(|step| (thread, *step)));
        }
    }
    order.extend([(1, "ret sell"), (2, "ret sell")]);
    for (thread, step) in order {
        let (what, line) = step.split_once(' ').expect("two words");
        let added = match what {
            "call" => builder.call(thread, line),
            "ret" => builder.ret(thread, line),
            "read" => builder.saw(thread, "stock", None),
            "write" => builder.put(thread, "stock", None),
            "lock" => builder.acquire(thread, "lock"),
            _ => builder.release(thread, "lock"),
        };
        if line.parse::<u32>().is_ok() {
            added.at(&format!("shop.c:{line}"));
        }
    }
    builder.build().expect("the trace is valid")
}

/// What is proposed for the first repair of a trace of these steps, with the lock.
fn proposed(steps: &[&str], text: &str) -> Result<Patch, String> {
    let trace = trace(steps);
    let found = repairs(std::slice::from_ref(&trace), &[], None, Limits::NONE);
    let repair: &[Section] = &found.ranked.first().expect("a repair").repair;
    let stretches = stretches_of(&trace, None, &repair.to_vec());
    let lock = if trace.syncs.is_empty() { PatchLock::None } else { PatchLock::Existing(SyncId::from_index(0)) };
    patch(&trace, (repair, &[stretches]), lock, ("shop.c", text)).map_err(|why| why.to_string())
}

/// The lines of a diff that change something.
fn changes(patch: &Patch) -> Vec<&str> {
    let lines = patch.diff.lines().skip(2);
    lines.filter(|line| line.starts_with(['+', '-'])).collect()
}

const WIDEN: [&str; 6] = ["lock 3", "read 4", "unlock 5", "lock 7", "write 8", "unlock 9"];
const WIDEN_TEXT: &str = "\
void sell(void)
{
    pthread_mutex_lock(&lock);
    int left = stock;
    pthread_mutex_unlock(&lock); /* why? */
    int next = left - 1; // return }
    pthread_mutex_lock(&lock);
    stock = next;
    pthread_mutex_unlock(&lock);
}
";

#[test]
fn a_lock_that_is_given_back_and_taken_again_is_held_on() {
    let patch = proposed(&WIDEN, WIDEN_TEXT).expect("a patch");
    let expected = ["-    pthread_mutex_unlock(&lock); /* why? */", "-    pthread_mutex_lock(&lock);"];
    assert_eq!((patch.what.as_str(), changes(&patch)), ("holds lock on over the code", expected.to_vec()));
    assert!(patch.diff.starts_with("--- a/shop.c\n+++ b/shop.c\n@@ -2,9 +2,7 @@\n {\n"), "{}", patch.diff);
}

#[test]
fn what_may_leave_the_code_or_is_in_another_function_has_no_patch() {
    let leaves = WIDEN_TEXT.replace("    int next = left - 1; // return }", "    if (left == 0) goto out;");
    let why = "line 6 may leave the code before its end";
    assert_eq!(proposed(&WIDEN, &leaves).expect_err("refused"), why);
    let apart = WIDEN_TEXT.replace("    int next = left - 1; // return }", "} void put(int next) {");
    assert_eq!(proposed(&WIDEN, &apart).expect_err("refused"), "the code lies in several functions");
    let other = WIDEN_TEXT.replace("    pthread_mutex_lock(&lock);\n    stock", "    take_it();\n    stock");
    let why = "line 7: expected a statement that takes or gives back lock and nothing else";
    assert_eq!(proposed(&WIDEN, &other).expect_err("refused"), why);
    let one_way = WIDEN_TEXT.replace("    int next = left - 1; // return }", "    if (left == 0)");
    assert_eq!(proposed(&WIDEN, &one_way).expect_err("refused"), "line 7: lock is held on some ways only");
    let short = WIDEN_TEXT.lines().take(5).collect::<Vec<_>>().join("\n");
    assert_eq!(proposed(&WIDEN, &short).expect_err("refused"), "shop.c: the code ends at line 8, the file has 5");
}

/// The code between the lock's first lines and its last ones, and the change.
fn widened(text: &str) -> Result<String, String> {
    let numbered = |of: &str, nth: usize| {
        let mut lines = text.lines().zip(1..).filter(|(line, _)| line.contains(of));
        lines.nth(nth).map(|(_, line)| line).expect("the line is there")
    };
    let [takes, gives] = [[0, 1].map(|nth| numbered("_lock(", nth)), [0, 1].map(|nth| numbered("_unlock(", nth))];
    let write = numbered("stock =", 0);
    let steps = [
        format!("lock {}", takes[0]),
        format!("read {}", numbered("= stock", 0)),
        format!("unlock {}", gives[0]),
        format!("lock {}", takes[1]),
        format!("write {write}"),
        format!(
            "unlock {}",
            text.lines()
                .zip(1..)
                .filter(|(line, at)| *at > write && line.contains("_unlock("))
                .map(|(_, at)| at)
                .next()
                .expect("it is there")
        ),
    ];
    proposed(&steps.each_ref().map(String::as_str), text).map(|patch| changes(&patch).join("\n"))
}

/// The usual check before the act: what gives the lock back at the end moves behind the branch.
#[test]
fn a_lock_that_is_taken_again_in_a_branch_is_held_on() {
    let text = "\
int sell(void)
{
    pthread_mutex_lock(&lock);
    int left = stock;
    pthread_mutex_unlock(&lock);
    if (left > 0)
    {
        pthread_mutex_lock(&lock);
        stock = left - 1;
        pthread_mutex_unlock(&lock);
    }
    return left;
}
";
    let expected = "\
-    pthread_mutex_unlock(&lock);
-        pthread_mutex_lock(&lock);
-        pthread_mutex_unlock(&lock);
+    pthread_mutex_unlock(&lock);";
    assert_eq!(widened(text).as_deref(), Ok(expected));
    // Where one way keeps the lock, nothing is known behind it.
    let keeps =
        text.replace("        pthread_mutex_unlock(&lock);\n    }\n", "    }\n    pthread_mutex_unlock(&lock);\n");
    assert_eq!(widened(&keeps).expect_err("refused"), "line 10: lock is held on some ways only");
    let waits = text.replace("        stock", "        pthread_cond_wait(&more, &lock);\n        stock");
    let why = "line 9: expected a statement that takes or gives back lock and nothing else";
    assert_eq!(widened(&waits).expect_err("refused"), why);
}

/// A way out of the code gives the lock back.
#[test]
fn what_leaves_code_gives_the_lock_back() {
    let text = "\
int sell(struct shop *shop)
{
    pthread_mutex_lock(&shop->lock);
    int left = stock;
    pthread_mutex_unlock(&shop->lock);
    if (left == 0) return -1; // none
    for (int i = 0; i < left; i++) {
        if (i == 3) break;
    }
    if (left == 1)
        return 0;
    if (left == 2) {
        count(left);
        return 0;
    }
    pthread_mutex_lock(&shop->lock);
    if (left == 4) { pthread_mutex_unlock(&shop->lock); return 4; }
    stock = left - 1;
    pthread_mutex_unlock(&shop->lock);
    return left;
}
";
    let expected = "\
-    pthread_mutex_unlock(&shop->lock);
-    if (left == 0) return -1; // none
+    if (left == 0) { pthread_mutex_unlock(&shop->lock); return -1; } // none
-        return 0;
+        { pthread_mutex_unlock(&shop->lock); return 0; }
+        pthread_mutex_unlock(&shop->lock);
-    pthread_mutex_lock(&shop->lock);";
    assert_eq!(widened(text).as_deref(), Ok(expected));
    let late = text.replace(
        "    pthread_mutex_lock(&shop->lock);\n    if (left == 4) {",
        "    {\n    pthread_mutex_lock(&shop->lock);\n    if (left == 4) {",
    );
    let late = late.replace("    return left;\n", "    }\n    return left;\n");
    let expected =
        [expected, "-    pthread_mutex_unlock(&shop->lock);", "+    pthread_mutex_unlock(&shop->lock);"].join("\n");
    assert_eq!(widened(&late).as_deref(), Ok(expected.as_str()));
    let other = late.replace("    {\n    pthread", "    {\n    shop = next(shop);\n    pthread");
    assert_eq!(widened(&other).expect_err("refused"), "shop->lock may be another lock where the code begins or ends");
}

/// Guards of C++: their blocks give the lock back.
#[test]
fn guards_in_blocks_become_one() {
    let text = "\
int sell()
{
    int left;
    { std::lock_guard<std::mutex> guard(lock); left = stock; }
    if (left == 0) return -1;
    {
        std::lock_guard<std::mutex> guard(lock);
        stock = left - 1;
    }
    return left;
}
";
    let steps = ["lock 4", "read 4", "unlock 4", "lock 7", "write 8", "unlock 9"];
    let expected = [
        "+    std::unique_lock<std::mutex> guard(lock);",
        "-    { std::lock_guard<std::mutex> guard(lock); left = stock; }",
        "+    { left = stock; }",
        "-        std::lock_guard<std::mutex> guard(lock);",
        "+    guard.unlock();",
    ];
    assert_eq!(changes(&proposed(&steps, text).expect("a patch")), expected);
    let used = text.replace("        stock = left - 1;", "        stock = left - 1; more.wait(guard);");
    assert_eq!(proposed(&steps, &used).expect_err("refused"), "line 7: guard is used");
    // To its end the function holds the second lock: so does the change.
    let to_end = text.replace("    {\n        std", "        std").replace("    }\n    return", "    return");
    let expected = [
        "+    std::unique_lock<std::mutex> guard(lock);",
        "-    { std::lock_guard<std::mutex> guard(lock); left = stock; }",
        "+    { left = stock; }",
        "-        std::lock_guard<std::mutex> guard(lock);",
    ];
    let steps = ["lock 4", "read 4", "unlock 4", "lock 6", "write 7", "unlock 9"];
    assert_eq!(changes(&proposed(&steps, &to_end).expect("a patch")), expected);
}

/// The first access is outside of the lock: it is taken before that, and no longer after.
#[test]
fn a_lock_that_is_taken_too_late_is_taken_earlier() {
    let text = "\
void sell(void)
{
\tint left = stock;
\tpthread_mutex_lock(&lock);
\tstock = left - 1;
\tpthread_mutex_unlock(&lock);
}
";
    let patch = proposed(&["read 3", "lock 4", "write 5", "unlock 6"], text).expect("a patch");
    assert_eq!(changes(&patch), ["+\tpthread_mutex_lock(&lock);", "-\tpthread_mutex_lock(&lock);"]);
    let branches = text.replace("\tpthread_mutex_lock(&lock);", "#else");
    let why = "line 4: expected a statement that takes or gives back lock and nothing else";
    assert_eq!(proposed(&["read 3", "lock 4", "write 5", "unlock 6"], &branches).expect_err("refused"), why);
    let branches = text.replace("{\n", "{\n#if FAST\n").replace("\tpthread_mutex_lock", "#endif\n\tpthread_mutex_lock");
    let why = "the code lies in several branches of the preprocessor";
    assert_eq!(proposed(&["read 4", "lock 6", "write 7", "unlock 8"], &branches).expect_err("refused"), why);
    let member = text.replace("&lock", "&shop->lock");
    let patch = proposed(&["read 3", "lock 4", "write 5", "unlock 6"], &member).expect("a patch");
    assert_eq!(changes(&patch), ["+\tpthread_mutex_lock(&shop->lock);", "-\tpthread_mutex_lock(&shop->lock);"]);
    let local = member.replace("\tpthread_mutex_lock", "\tstruct shop *shop = find();\n\tpthread_mutex_lock");
    let why = "shop->lock may be another lock where the code begins or ends";
    assert_eq!(proposed(&["read 3", "lock 5", "write 6", "unlock 7"], &local).expect_err("refused"), why);
}

/// The statements around the lines become one section: a branch without braces goes to its end.
#[test]
fn a_lock_is_given_back_behind_the_whole_statement() {
    let text = "\
void sell(void)
{
    if (stock > 0 &&
        is_open())
        stock--;
    else
        close();
    m.lock();
    m.unlock();
}
";
    let trace = trace(&["read 3", "write 5", "lock 8", "unlock 9"]);
    let found = repairs(std::slice::from_ref(&trace), &[], None, Limits::NONE);
    let repair = &found.ranked[0].repair;
    let stretches = stretches_of(&trace, None, repair);
    let text_of_lock = text.replace("m.", "lock.");
    let patch =
        patch(&trace, (repair, &[stretches]), PatchLock::Existing(SyncId::from_index(0)), ("a/shop.c", &text_of_lock));
    let patch = patch.expect("a patch");
    assert_eq!(changes(&patch), ["+    lock.lock();", "+    lock.unlock();"]);
    let (before, after) = patch.diff.split_once("+    lock.unlock();").expect("there");
    assert!(before.ends_with("         close();\n") && after.starts_with("\n     lock.lock();\n"), "{}", patch.diff);
}

#[test]
fn a_load_and_a_store_become_a_compare_and_exchange() {
    let text = "int sell(void)\n{\n    int left = atomic_load(&stock);\n\n    atomic_store(&stock, left - 1);\n    return left;\n}";
    let patch = proposed(&["read 3", "write 5"], text).expect("a patch");
    let expected = [
        "-    atomic_store(&stock, left - 1);",
        "+    while (!atomic_compare_exchange_weak(&stock, &left, left - 1)) {",
        "+    }",
    ];
    assert_eq!(changes(&patch), expected);
    assert!(patch.diff.ends_with(" }\n\\ No newline at end of file\n"), "{}", patch.diff);
    // What lies between, or is stored without regard to what was loaded, would not be done again.
    for (from, to) in
        [("\n\n", "\n    left *= 2;\n"), ("left - 1", "0"), ("int left", "const int left"), ("int left", "left")]
    {
        let other = text.replacen(from, to, 1).replace("&stock, const", "&stock,");
        assert_eq!(
            proposed(&["read 3", "write 5"], &other).expect_err("refused"),
            "no existing lock would do",
            "{other}"
        );
    }
    let methods = text
        .replace("atomic_load(&stock)", "stock.load()")
        .replace("atomic_store(&stock, left - 1)", "stock.store(left - 1)");
    let patch = proposed(&["read 3", "write 5"], &methods).expect("a patch");
    assert!(patch.diff.contains("+    while (!stock.compare_exchange_weak(left, left - 1)) {"), "{}", patch.diff);
}
