//! Locks that programs build themselves. The functions of such a lock are known by the traits that they implement (`rust::lock_api`), by
//! the user's rules (`names`), or by marks in the source (`marks`).
//!
//! Such a function stays as it is. A wrapper takes its place and calls it between two calls of the runtime (see `interpose/locks.rs`
//! there). Neither is instrumented, so that nothing inside is recorded.

pub(crate) mod function;
pub(crate) mod glue;
mod marks;
pub mod names;

use crate::llvm::{Builder, Module, Value};
use crate::rust;
use crate::source::Sources;
use foretrace_runtime::lock_calls::Action;
pub use function::BadLock;
use function::LockFunction;
use glue::Glue;
use names::LockNames;
use std::collections::HashSet;

/// Gives the functions of locks in a module to the runtime; the names of those that are not to be instrumented.
pub(crate) fn give_to_runtime(module: &Module, names: &LockNames, is_rust: bool) -> Result<HashSet<String>, BadLock> {
    let mut found = marks::in_module(module)?;
    let known: HashSet<Value> = found.iter().map(|(function, _)| *function).collect();
    let mut sources = Sources::of_module(module);
    let others = |function: &Value| !function.is_declaration() && !known.contains(function);
    for function in module.functions().into_iter().filter(others) {
        let by_name = if names.is_empty() { None } else { named(names, &mut sources, function) };
        let by_trait = || {
            let (path, lock) = rust::lock_function(module, function).filter(|_| is_rust)?;
            names.trusts(&path, &sources.path_of(function)).then_some(lock)
        };
        found.extend(by_name.or_else(by_trait).map(|lock| (function, lock)));
    }
    if is_rust {
        let trusted = |(function, _): &(Value, _)| names.trusts(rust::SPIN, &sources.path_of(*function));
        found.extend(rust::locks_of_spin(module).into_iter().filter(trusted));
    }
    let glue = Glue { module, builder: Builder::new(module.context()) };
    if found.iter().any(|(_, lock)| changes(lock.call.action)) {
        glue.say_that_locks_change();
    }
    let mut left = HashSet::new();
    for (function, lock) in found {
        left.extend(glue.put_around(function, &lock)?);
    }
    Ok(left)
}

/// What the user says of a function, by its name in the source or its symbol.
fn named(names: &LockNames, sources: &mut Sources, function: Value) -> Option<LockFunction> {
    names.function(&sources.function(function).1).or_else(|| names.function(&function.name()))
}

/// Whether a thread holds the lock in another way afterwards.
fn changes(action: Action) -> bool {
    matches!(action, Action::Upgrade | Action::TryUpgrade | Action::Downgrade | Action::DowngradeToUpgradable)
}
