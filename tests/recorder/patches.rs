//! `--patch`: the diff applies, the program builds, and nothing is left to repair. What no simple change repairs gets none.

use crate::support::{Ran, Workshop, is_installed, ran};
use serde_json::json;

/// Two threads of these functions work on a stock; the program fails if it is not `end` then.
fn program(functions: &str, (one, other): (&str, &str), end: i32) -> String {
    format!(
        "#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

{functions}
int main(void)
{{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, {one}, NULL);
    pthread_create(&threads[1], NULL, {other}, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return stock == {end} ? 0 : 1;
}}
"
    )
}

const WIDEN: &str = "
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 5;

static void *sell(void *unused)
{
    pthread_mutex_lock(&lock);
    int left = stock;
    pthread_mutex_unlock(&lock);
    /* the price is looked up here */
    pthread_mutex_lock(&lock);
    stock = left - 1;
    pthread_mutex_unlock(&lock);
    return unused;
}
";

const TAKE: &str = "
static struct {
    pthread_mutex_t lock;
} shop = {PTHREAD_MUTEX_INITIALIZER};
static int stock = 5;

static void *sell(void *unused)
{
    pthread_mutex_lock(&shop.lock);
    stock--;
    pthread_mutex_unlock(&shop.lock);
    return unused;
}

static void *refill(void *unused)
{
    if (stock < 10)
        stock = stock + 3;
    return unused;
}
";

const EXCHANGE: &str = "
static atomic_int stock = 5;

static void *sell(void *unused)
{
    int left = atomic_load(&stock);
    atomic_store(&stock, left - 1);
    return unused;
}
";

/// No lock at all: what two functions do, one of them in a loop.
const NO_LOCK: &str = "
/* What is on the shelf. */
static int stock = 5;

/* Sells one. */
static void *
sell(void *unused)
{
    int left = stock;
    if (left > 0)
        stock = left - 1;
    return unused;
}

static void *refill(void *unused)
{
    for (int times = 0; times < 2; times++)
        stock = stock + 3;
    return unused;
}
";

/// The same as methods in C++.
const NO_LOCK_IN_CXX: &str = "\
#include <thread>

namespace {

struct Shop {
    int stock = 5;

    void sell()
    {
        int left = stock;
        if (left > 0) {
            stock = left - 1;
        }
    }

    void refill()
    {
        stock += 3;
    }
};

} // namespace

static Shop shop;

int main()
{
    std::thread one([] { shop.sell(); }), other([] { shop.refill(); });
    one.join();
    other.join();
    return shop.stock == 7 ? 0 : 1;
}
";

/// A counter in Rust that is loaded and stored.
const NO_LOCK_IN_RUST: &str = "\
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static STOCK: AtomicU32 = AtomicU32::new(5);

/// Sells one.
fn sell<'a>(who: &'a str) -> &'a str {
    let left = STOCK.load(SeqCst);
    if left > 0 {
        STOCK.store(left - 1, SeqCst);
    }
    who
}

fn main() {
    let sold = [\"a\", \"b\"].map(|who| thread::spawn(move || sell(who).len()));
    sold.into_iter().for_each(|thread| drop(thread.join()));
    std::process::exit(if STOCK.load(SeqCst) == 3 { 0 } else { 1 });
}
";

/// Builds a program of this text; `shop.c` stays beside it.
fn workshop(text: &str) -> Workshop {
    workshop_of("shop.c", text)
}

fn workshop_of(name: &str, text: &str) -> Workshop {
    let workshop = Workshop::empty();
    let file = workshop.path(name);
    std::fs::create_dir_all(file.parent().expect("in a folder")).expect("made");
    std::fs::write(file, text).expect("written");
    if name.ends_with(".rs") {
        let manifest = "[package]\nname = \"shop\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n";
        std::fs::write(workshop.path("Cargo.toml"), manifest).expect("written");
    }
    workshop.make(building(name));
    workshop
}

/// How a program is built, as if each warning were an error.
fn building(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "c")) => "foretrace cc -g -pthread -Wall -Werror -o program shop.c",
        Some((_, "cpp")) => "foretrace c++ -g -pthread -Wall -Werror -o program shop.cpp",
        _ => {
            "RUSTFLAGS='-D warnings' foretrace cargo build --quiet --offline --target-dir target \
             && cp target/x86_64-unknown-linux-gnu/debug/shop program"
        }
    }
}

const CHECK_IN_CXX: &str = "\
#include <mutex>
#include <thread>

struct Shop {
    std::mutex mutex_;
    int stock = 7;
    int sell() {
        int left;
        {
            std::lock_guard<std::mutex> guard(mutex_);
            left = stock;
        }
        if (left == 0)
            return 0;
        std::lock_guard<std::mutex> guard(mutex_);
        stock = left - 1;
        return left;
    }
};

int main() {
    Shop shop;
    std::thread other([&shop] { shop.sell(); });
    shop.sell();
    other.join();
    return shop.stock == 5 ? 0 : 1;
}
";

const CHECK_IN_RUST: &str = "\
use std::sync::{Arc, Mutex};

fn sell(stock: &Mutex<i64>) -> bool {
    let left = *stock.lock().unwrap();
    if left == 0 {
        return false;
    }
    *stock.lock().unwrap() = left - 1; // sold
    true
}

fn main() {
    let stock = Arc::new(Mutex::new(7));
    let other = Arc::clone(&stock);
    let seller = std::thread::spawn(move || sell(&other));
    sell(&stock);
    seller.join().unwrap();
    assert_eq!(*stock.lock().unwrap(), 5);
}
";

const UPDATE_IN_RUST: &str = "\
use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(1);

fn next_number() -> u32 {
    let number = NEXT.load(Ordering::Acquire);
    NEXT.store(number + 1, Ordering::Release);
    number
}

fn main() {
    let other = std::thread::spawn(next_number);
    let own = next_number();
    assert_ne!(other.join().unwrap(), own);
}
";

const CALLS: &str = "
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 5;

static int left(void)
{
    pthread_mutex_lock(&lock);
    int left = stock;
    pthread_mutex_unlock(&lock);
    return left;
}

static void set(int left)
{
    pthread_mutex_lock(&lock);
    stock = left;
    pthread_mutex_unlock(&lock);
}

static void *sell(void *unused)
{
    int now = left();
    set(now - 1);
    return unused;
}
";

/// Seeks a patch from a run that passed.
fn predicted(workshop: &Workshop, recording: &str) -> Ran {
    let is_passing = |seed: &i32| workshop.record(recording, &["--seed", &seed.to_string()]) == json!({"code": 0});
    assert!((0..200).any(|seed| is_passing(&seed)), "no seed passes");
    ran(&mut workshop.shell(&format!("foretrace predict {recording} --repair --patch {recording}.patch")))
}

/// The patch applies to the program, which fails in no interleaving then.
fn mends(text: &str, what: &str) {
    mends_file("shop.c", text, what);
}

fn mends_file(name: &str, text: &str, what: &str) {
    let workshop = workshop_of(name, text);
    let run = predicted(&workshop, "wrong");
    assert_eq!(run.status, Some(1), "{}{}", run.out, run.err);
    assert!(run.err.contains(what), "{}", run.err);
    if !is_installed("patch") {
        return;
    }
    let explored = |workshop: &Workshop| ran(&mut workshop.shell("foretrace explore -- ./program"));
    assert_eq!(explored(&workshop).status, Some(1));
    workshop.make(&format!("patch -p1 < wrong.patch && {}", building(name)));
    let run = explored(&workshop);
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    let run = predicted(&workshop, "right");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    assert!(run.err.contains("no patch: ") && !workshop.path("right.patch").exists(), "{}", run.err);
}

#[test]
fn a_critical_section_is_widened() {
    mends(&program(WIDEN, ("sell", "sell"), 3), "a proposal for repair 1: holds lock on over the code");
}

#[test]
fn the_lock_that_the_others_take_is_taken() {
    mends(&program(TAKE, ("sell", "refill"), 7), "takes shop.lock around the code");
}

#[test]
fn a_load_and_a_store_become_a_compare_and_exchange() {
    mends(&program(EXCHANGE, ("sell", "sell"), 3), "a compare-and-exchange of stock in place of a load and a store");
}

#[test]
fn a_new_lock_is_taken_at_all_places() {
    let what = "declares stock_lock and takes it around 2 places";
    mends(&program(NO_LOCK, ("sell", "refill"), 10), what);
    mends_file("shop.cpp", NO_LOCK_IN_CXX, what);
}

#[test]
fn a_new_lock_is_taken_in_rust() {
    mends_file("src/main.rs", NO_LOCK_IN_RUST, "declares STOCK_LOCK and takes it around the code");
}

/// The usual check before the act: a way out gives the lock back, and what gave it back in a branch goes behind that.
#[test]
fn a_lock_is_held_on_from_a_check_to_the_act() {
    let holds = "a proposal for repair 1: holds lock on over the code";
    let early = WIDEN.replace("/* the price is looked up here */", "if (left == 0)\n        return unused;");
    mends(&program(&early, ("sell", "sell"), 3), holds);
    let act = "    pthread_mutex_lock(&lock);\n    stock = left - 1;\n    pthread_mutex_unlock(&lock);\n";
    let branch = WIDEN.replace(act, &format!("    if (left > 0)\n    {{\n{act}    }}\n"));
    assert_ne!(branch, WIDEN);
    mends(&program(&branch, ("sell", "sell"), 3), holds);
    mends_file("shop.cpp", CHECK_IN_CXX, "holds main:shop.mutex_ on over the code");
    mends_file("src/main.rs", CHECK_IN_RUST, "on over the code");
}

/// Functions that take the lock themselves cannot be called with it: a new one goes around the calls.
#[test]
fn a_new_lock_goes_around_calls_that_take_the_existing_one() {
    mends(&program(CALLS, ("sell", "sell"), 3), "declares stock_lock and takes it around the code");
}

#[test]
fn a_load_and_a_store_become_an_update_in_rust() {
    mends_file("src/main.rs", UPDATE_IN_RUST, "an update of NEXT in place of a load and a store");
}

/// What the code waits for, or calls, may need the new lock.
#[test]
fn a_new_lock_is_not_taken_around_what_needs_it() {
    let report = |text: String| {
        let workshop = workshop(&text);
        assert_eq!(workshop.record("wrong", &["--seed", "1"]), json!({"code": 0}));
        let run = ran(&mut workshop.shell("foretrace predict wrong --repair --patch wrong.patch --format json"));
        let report: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
        (report["repairs"][0]["patch"].clone(), workshop.path("wrong.patch").exists())
    };
    let (patch, is_written) = report(program(NO_LOCK, ("sell", "refill"), 10));
    let diff = patch["diff"].as_str().unwrap_or_default();
    assert!(diff.contains("+    pthread_mutex_lock(&stock_lock);\n     int left = stock;") && is_written, "{patch:#}");
    let joins = NO_LOCK.replace("stock = stock + 3;", "stock = stock + (pthread_join(pthread_self(), NULL) ? 3 : 3);");
    let (patch, is_written) = report(program(&joins, ("sell", "refill"), 10));
    assert!(patch["none"].as_str().is_some_and(|why| why.contains("calls pthread_join")) && !is_written, "{patch:#}");
    let nested = NO_LOCK
        .replace("        stock = stock + 3;", "        stock = one_more() + stock + 1 - stock;")
        .replace("static void *refill", "static int one_more(void)\n{\n    stock = stock + 1;\n    int more = stock + 1;\n    return more;\n}\n\nstatic void *refill");
    let (patch, _) = report(program(&nested, ("sell", "refill"), 10)); // the second repair, around the loop, has one
    let why = patch["none"].as_str().unwrap_or_default();
    assert!(why.contains("the code calls what needs the lock as well"), "{patch:#}");
}

#[test]
fn what_no_simple_change_repairs_has_no_patch() {
    let leaves = WIDEN.replace("/* the price is looked up here */", "if (left == 0) goto out;");
    let leaves = leaves.replace("    return unused;\n", "out:\n    return unused;\n");
    let workshop = workshop(&program(&leaves, ("sell", "sell"), 3));
    let run = predicted(&workshop, "wrong");
    assert_eq!(run.status, Some(1), "{}", run.err);
    assert!(run.err.contains("no patch: line 14 may leave the code before its end"), "{}", run.err);
    assert!(!workshop.path("wrong.patch").exists());
    let run = ran(&mut workshop.shell("echo >> shop.c; foretrace predict wrong --repair --patch wrong.patch"));
    assert!(run.err.contains("no patch: ") && run.err.contains("not as it was"), "{}", run.err);
    let run = ran(&mut workshop.shell("foretrace predict wrong --patch wrong.patch"));
    assert_eq!(run.status, Some(2), "{}", run.err);
}

/// A recorded run that fails by itself has no repair, so that a seed is sought whose run passes.
#[test]
fn a_test_writes_a_patch_too() {
    let workshop = workshop(&program(WIDEN, ("sell", "sell"), 3));
    let is_written = |seed: &i32| {
        let command = format!(
            "foretrace test --runs 1 --seed {seed} --repair --patch fix.patch --save finds-{seed} -- ./program"
        );
        let run = ran(&mut workshop.shell(&command));
        assert!(
            run.err.contains("a proposal for repair 1") == workshop.path("fix.patch").exists(),
            "{}{}",
            run.out,
            run.err
        );
        run.err.contains("a proposal for repair 1")
    };
    assert!((0..20).any(|seed| is_written(&seed)), "no seed leads to a patch");
    let patch = std::fs::read_to_string(workshop.path("fix.patch")).expect("read");
    assert!(patch.contains("\n-    pthread_mutex_unlock(&lock);\n"), "{patch}");
}
