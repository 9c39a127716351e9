//! The bank of Table 1, for any number of workers: a litmus program as text.
//!
//! Workers come in pairs that share two accounts. A worker's transaction updates the first account twice, then the second
//! one twice, each update a read-modify-write under two nested locks; another worker's update fits between the two of one
//! account. So a worker has four candidates with its partner's updates (2 accounts × 2 updates) and eight with the four
//! accesses of `main` to each account, before the threads start and after they have ended.

use std::fmt::Write;

/// Which bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// `av`: the workers are not ordered.
    None,
    /// `sav`: a worker lets the next one go when it is done with its first account: the second one is still at risk.
    TooEarly,
    /// `nav`: a worker lets the next one go when its transaction is over.
    Whole,
}

/// Entries of the table that every worker reads, and nobody writes: with the journal's lock the paper's 105 shared
/// variables besides accounts.
const TABLE: usize = 104;

/// The program of so many workers, an even number.
pub fn program(workers: usize, order: Order) -> String {
    let mut text = format!("// The bank of Table 1 with {workers} workers, {}.\n", described(order));
    declarations(&mut text, workers, order);
    main_thread(&mut text, workers, order);
    for worker in 1..=workers {
        worker_thread(&mut text, worker, order);
    }
    text
}

fn described(order: Order) -> &'static str {
    match order {
        Order::None => "not ordered (av)",
        Order::TooEarly => "ordered for their first account only (sav)",
        Order::Whole => "one after the other (nav)",
    }
}

fn declarations(text: &mut String, workers: usize, order: Order) {
    let _ = write!(text, "\nshared table: int[{TABLE}] = 5;\nshared balance: int[{workers}] = 0;\nmutex journal;\n");
    for account in 0..workers {
        let _ = writeln!(text, "mutex account{account};");
    }
    if order != Order::None {
        text.push_str("shared turn: int = 0;\nmutex queue;\ncondvar turned;\n");
    }
}

fn main_thread(text: &mut String, workers: usize, order: Order) {
    text.push_str("\nthread main {\n");
    for account in 0..workers {
        let _ = writeln!(text, "    balance[{account}] = 100;");
        let _ = writeln!(text, "    balance[{account}] = 1000;");
        let _ = writeln!(text, "    let opening{account} = balance[{account}];");
    }
    (1..=workers).for_each(|worker| writeln!(text, "    spawn worker{worker};").unwrap_or_default());
    if order != Order::None {
        let_go(text, "    ", 1);
    }
    (1..=workers).for_each(|worker| writeln!(text, "    join worker{worker};").unwrap_or_default());
    for account in 0..workers {
        let _ = writeln!(text, "    let closing{account} = balance[{account}];");
    }
    text.push_str("}\n");
}

fn worker_thread(text: &mut String, worker: usize, order: Order) {
    let first = (worker - 1) / 2 * 2;
    let _ = write!(text, "\nthread worker{worker} {{\n    let k = 0;\n    while (k < {TABLE}) {{\n");
    text.push_str("        let entry = table[k];\n        k = k + 1;\n    }\n");
    if order != Order::None {
        let _ =
            write!(text, "    lock(queue);\n    while (turn != {worker}) {{\n        wait(turned, queue);\n    }}\n");
        text.push_str("    unlock(queue);\n");
    }
    text.push_str("    atomic \"transfers\" {\n");
    updates(text, first, worker);
    if order == Order::TooEarly {
        let_go(text, "        ", worker + 1);
    }
    updates(text, first + 1, worker);
    text.push_str("    }\n");
    if order == Order::Whole {
        let_go(text, "    ", worker + 1);
    }
    text.push_str("}\n");
}

/// Two updates of an account; every worker has an amount of its own.
fn updates(text: &mut String, account: usize, worker: usize) {
    for _ in 0..2 {
        let _ = write!(
            text,
            "        lock(account{account});\n        lock(journal);\n        fetch_add(balance[{account}], {worker});\n        \
             unlock(journal);\n        unlock(account{account});\n"
        );
    }
}

fn let_go(text: &mut String, indent: &str, next: usize) {
    for statement in ["lock(queue)", &format!("turn = {next}"), "broadcast(turned)", "unlock(queue)"] {
        let _ = writeln!(text, "{indent}{statement};");
    }
}
