//! Locks of Rust crates: whatever implements the traits of the crate `lock_api`, as those of `parking_lot` do, and the condition variable
//! of `parking_lot`. The traits say what each function does.

use super::{plain, rust_name};
use crate::llvm::{Builder, Module, Opcode, TypeKind, Value};
use crate::locks::function::{LockFunction, Success, Time, WhichLock};
use crate::locks::glue::Glue;
use crate::shape::scalar_bits;
use foretrace_runtime::lock_calls::{
    Action::{self, Ask, Downgrade, DowngradeToUpgradable, DowngradeUpgradable, Give, Take, Try, TryUpgrade, Upgrade},
    Hold::{self, Alone, Mutex, Shared, Upgradable},
    LockCall,
};
use std::collections::HashSet;

/// Functions of the traits, the trait's name without its module.
const FUNCTIONS: [(&str, &str, Action, Hold); 28] = [
    ("RawMutex", "lock", Take, Mutex),
    ("RawMutex", "try_lock", Try, Mutex),
    ("RawMutex", "unlock", Give, Mutex),
    ("RawMutex", "is_locked", Ask, Mutex),
    ("RawMutexFair", "unlock_fair", Give, Mutex),
    ("RawRwLock", "lock_shared", Take, Shared),
    ("RawRwLock", "try_lock_shared", Try, Shared),
    ("RawRwLock", "unlock_shared", Give, Shared),
    ("RawRwLock", "lock_exclusive", Take, Alone),
    ("RawRwLock", "try_lock_exclusive", Try, Alone),
    ("RawRwLock", "unlock_exclusive", Give, Alone),
    ("RawRwLock", "is_locked", Ask, Alone),
    ("RawRwLock", "is_locked_exclusive", Ask, Shared),
    ("RawRwLockFair", "unlock_shared_fair", Give, Shared),
    ("RawRwLockFair", "unlock_exclusive_fair", Give, Alone),
    ("RawRwLockDowngrade", "downgrade", Downgrade, Alone),
    ("RawRwLockRecursive", "lock_shared_recursive", Take, Shared),
    ("RawRwLockRecursive", "try_lock_shared_recursive", Try, Shared),
    ("RawRwLockUpgrade", "lock_upgradable", Take, Upgradable),
    ("RawRwLockUpgrade", "try_lock_upgradable", Try, Upgradable),
    ("RawRwLockUpgrade", "unlock_upgradable", Give, Upgradable),
    ("RawRwLockUpgrade", "upgrade", Upgrade, Alone),
    ("RawRwLockUpgrade", "try_upgrade", TryUpgrade, Alone),
    ("RawRwLockUpgradeFair", "unlock_upgradable_fair", Give, Upgradable),
    ("RawRwLockUpgradeDowngrade", "downgrade_upgradable", DowngradeUpgradable, Upgradable),
    ("RawRwLockUpgradeDowngrade", "downgrade_to_upgradable", DowngradeToUpgradable, Alone),
    ("RawRwLockUpgradeTimed", "try_upgrade_for", TryUpgrade, Alone),
    ("RawRwLockUpgradeTimed", "try_upgrade_until", TryUpgrade, Alone),
];

/// Those that wait for a while, without `_for` and `_until`.
const TIMED: [(&str, &str, Hold); 5] = [
    ("RawMutexTimed", "try_lock", Mutex),
    ("RawRwLockTimed", "try_lock_shared", Shared),
    ("RawRwLockTimed", "try_lock_exclusive", Alone),
    ("RawRwLockRecursiveTimed", "try_lock_shared_recursive", Shared),
    ("RawRwLockUpgradeTimed", "try_lock_upgradable", Upgradable),
];

/// The lock of `parking_lot`: readers wait for writers who wait, but in the functions that may read again.
const WRITERS_FIRST: &str = "parking_lot::raw_rwlock::RawRwLock";

/// What a function does that implements one of the traits, and for which type. Since version 0.5 of `lock_api` they return guards where they returned nothing
/// or `bool`: a lock returns a guard, a try an `Option` of one, and a try to upgrade a `Result`, whose first variant is success.
pub(crate) fn lock_function(module: &Module, function: Value) -> Option<(String, LockFunction)> {
    let (by, mut lock) = by_symbol(&function.name())?;
    let returned = function.function_type().returned();
    if lock.call.action == Take && lock.time.is_none() {
        lock.success = Success::Always;
    } else if module.context().name_of_returned(function).is_some_and(|name| name.starts_with("Result<")) {
        lock.success = Success::Zero;
    } else if returned.kind() == TypeKind::Struct {
        lock.success = Success::First;
    }
    Some((by, lock))
}

/// The type that implements the trait, and what its function does.
fn by_symbol(symbol: &str) -> Option<(String, LockFunction)> {
    let name = rust_name(symbol)?;
    let (by, of_trait) = name.strip_prefix('<')?.split_once(" as lock_api::")?;
    let (path, method) = of_trait.split_once(">::")?;
    let of = path.rsplit("::").next()?;
    let function = |action, hold, time| LockFunction {
        call: LockCall {
            action,
            hold,
            again: false,
            gated: of_trait.starts_with("rwlock::"),
            writers_first: by.ends_with(WRITERS_FIRST) && !of.starts_with("RawRwLockRecursive"),
        },
        lock: WhichLock::Parameter(0),
        success: Success::NotZero,
        time,
    };
    if let Some((.., action, hold)) = FUNCTIONS.iter().find(|(by, name, ..)| (*by, *name) == (of, method)) {
        return Some((by.to_owned(), function(*action, *hold, None)));
    }
    let (start, time) = match (method.strip_suffix("_for"), method.strip_suffix("_until")) {
        (Some(start), _) => (start, Time::Span),
        (_, Some(start)) => (start, Time::Moment),
        _ => return None,
    };
    let (.., hold) = TIMED.iter().find(|(by, name, _)| (*by, *name) == (of, start))?;
    Some((by.to_owned(), function(Take, *hold, Some(time))))
}

/// The mutex of `parking_lot`, whose condition variable works with no other.
const MUTEX: &str = "parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex::";
/// Its condition variable, up to version 0.12 and since 0.13.
const CONDVARS: [&str; 3] = [
    "parking_lot::condvar::Condvar::",
    "parking_lot::raw_condvar::RawCondvar::",
    "parking_lot::raw_condvar::RawCondvar as lock_api::condvar::RawCondvar::",
];
/// What releases the mutex in its wait since 0.13, and belongs to no trait.
const UNLOCK: &str = "parking_lot::raw_mutex::RawMutex::unlock_inner";

/// Gives the condition variables of `parking_lot` in a module to the runtime, after its mutexes; the functions that are not to be
/// instrumented.
pub(crate) fn give_condvars_to_runtime(module: &Module) -> HashSet<String> {
    let glue = Glue { module, builder: Builder::new(module.context()) };
    let named = |function: &Value| rust_name(&function.name()).map(|name| plain(&name));
    let functions: Vec<(Value, String)> = module
        .functions()
        .into_iter()
        .filter(|function| !function.is_declaration())
        .filter_map(|function| named(&function).map(|name| (function, name)))
        .collect();
    // What the program calls is by now what stands in the place of a lock's own function.
    let own = |method: &str| {
        let place = functions.iter().find(|(_, name)| name.strip_prefix(MUTEX) == Some(method))?;
        module.function(&format!("{}.lock", place.0.name()))
    };
    let inner = || functions.iter().find(|(_, name)| name == UNLOCK).map(|(function, _)| *function);
    let mut left = HashSet::new();
    for (function, name) in &functions {
        let made = match CONDVARS.iter().find_map(|condvar| name.strip_prefix(condvar)) {
            Some("wait_until_internal") => {
                let unlock = own("unlock").or_else(inner);
                own("lock").zip(unlock).and_then(|(lock, unlock)| wait(&glue, *function, lock, unlock))
            }
            Some("notify_one") => notify(&glue, *function, false),
            Some("notify_all") => notify(&glue, *function, true),
            _ => None,
        };
        left.extend(made.into_iter().flatten());
    }
    left
}

/// Answers of the runtime's that mean: the program's own code is to be run.
const WAIT_IS_NOT_OURS: u64 = 2;
const NOTIFY_IS_NOT_OURS: u64 = u64::MAX;
/// LLVM's number of the predicate for equality.
const EQUAL: u32 = 32;

fn wait(glue: &Glue, function: Value, lock: Value, unlock: Value) -> Option<[String; 2]> {
    let (ty, parameters) = (function.function_type(), function.parameters());
    let bits: Vec<u32> = parameters.iter().skip(2).map(|parameter| scalar_bits(parameter.ty())).collect();
    if bits != [64, 32] || ty.returned().kind() != TypeKind::Integer {
        return None;
    }
    let place = glue.take_place_of(function);
    let mut arguments = place.parameters();
    arguments.extend([lock, unlock]);
    answer_or_run(glue, place, function, "__foretrace_condvar_wait", &arguments, WAIT_IS_NOT_OURS);
    Some([place.name(), function.name()])
}

fn notify(glue: &Glue, function: Value, all: bool) -> Option<[String; 2]> {
    if function.parameters().len() != 1 || function.function_type().returned().kind() != TypeKind::Integer {
        return None;
    }
    let place = glue.take_place_of(function);
    let all = glue.module.context().int(64).constant(u64::from(all));
    let arguments = [place.parameters()[0], all];
    answer_or_run(glue, place, function, "__foretrace_condvar_notify", &arguments, NOTIFY_IS_NOT_OURS);
    Some([place.name(), function.name()])
}

/// The body of a function that answers what the runtime answers, unless that leaves it to the program's own.
fn answer_or_run(glue: &Glue, place: Value, function: Value, runtime: &str, arguments: &[Value], not_ours: u64) {
    let context = glue.module.context();
    let (word, ty) = (context.int(64), function.function_type());
    let [start, own, ours] = ["start", "own", "ours"].map(|name| context.block(place, name));
    glue.builder.at_end(start);
    let answer = glue.call(runtime, arguments, word);
    let is_not_ours = glue.builder.compare(EQUAL, answer, word.constant(not_ours));
    glue.builder.branch(is_not_ours, own, ours);
    glue.builder.at_end(own);
    let run = glue.builder.call(ty, function, &place.parameters());
    run.pass_on(place);
    glue.ret(ty.returned(), run);
    glue.builder.at_end(ours);
    let narrow = match scalar_bits(ty.returned()) {
        64 => answer,
        _ => glue.builder.cast(Opcode::Trunc, answer, ty.returned()),
    };
    glue.builder.ret(narrow);
}

#[cfg(test)]
mod tests {
    use super::by_symbol;
    use foretrace_runtime::lock_calls::{Action, Hold};

    /// As the older of Rust's schemes has it.
    fn symbol(path: &str, method: &str) -> String {
        format!("_ZN{}{path}{}{method}17h0123456789abcdefE", path.len(), method.len())
    }

    #[test]
    fn implementations_of_the_traits_are_locks() {
        let known = "_$LT$parking_lot..raw_mutex..RawMutex$u20$as$u20$lock_api..mutex..RawMutex$GT$";
        let call = by_symbol(&symbol(known, "lock")).expect("a lock").1.call;
        assert_eq!((call.action, call.hold), (Action::Take, Hold::Mutex));
        let own = "_$LT$own..Spin$u20$as$u20$lock_api..rwlock..RawRwLock$GT$";
        assert_eq!(by_symbol(&symbol(own, "lock_shared")).expect("a lock").0, "own::Spin");
        let call = by_symbol(&symbol(own, "try_lock_shared")).expect("a lock").1.call;
        assert_eq!((call.action, call.hold), (Action::Try, Hold::Shared));
        let theirs = "_$LT$parking_lot..raw_rwlock..RawRwLock$u20$as$u20$lock_api..rwlock..RawRwLock";
        let of = |trait_end: &str, method| {
            by_symbol(&symbol(&format!("{theirs}{trait_end}$GT$"), method)).expect("a lock").1.call
        };
        assert!(of("", "lock_shared").writers_first && !call.writers_first);
        assert!(!of("Recursive", "lock_shared_recursive").writers_first);
        let timed = "_$LT$own..Spin$u20$as$u20$lock_api..mutex..RawMutexTimed$GT$";
        assert!(by_symbol(&symbol(timed, "try_lock_for")).expect("a lock").1.time.is_some());
        assert_eq!(by_symbol(&symbol("lock_api..mutex..Mutex$LT$R$C$T$GT$", "lock")), None);
    }
}
