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

/// Builds a program of this text; `shop.c` stays beside it.
fn workshop(text: &str) -> Workshop {
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("shop.c"), text).expect("written");
    workshop.make("foretrace cc -g -pthread -o program shop.c");
    workshop
}

/// Seeks a patch from a run that passed.
fn predicted(workshop: &Workshop, recording: &str) -> Ran {
    let is_passing = |seed: &i32| workshop.record(recording, &["--seed", &seed.to_string()]) == json!({"code": 0});
    assert!((0..200).any(|seed| is_passing(&seed)), "no seed passes");
    ran(&mut workshop.shell(&format!("foretrace predict {recording} --repair --patch {recording}.patch")))
}

/// The patch applies to the program, which fails in no interleaving then.
fn mends(text: &str, what: &str) {
    let workshop = workshop(text);
    let run = predicted(&workshop, "wrong");
    assert_eq!(run.status, Some(1), "{}{}", run.out, run.err);
    assert!(run.err.contains(what), "{}", run.err);
    if !is_installed("patch") {
        return;
    }
    let explored = |workshop: &Workshop| ran(&mut workshop.shell("foretrace explore -- ./program"));
    assert_eq!(explored(&workshop).status, Some(1));
    workshop.make("patch -p1 < wrong.patch && foretrace cc -g -pthread -Wall -Werror -o program shop.c");
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
fn what_no_simple_change_repairs_has_no_patch() {
    let leaves = WIDEN.replace("/* the price is looked up here */", "if (left == 0) return unused;");
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
