//! The locks of the crate `spin` (0.9 and its like): `Mutex`, as long as it spins, and `RwLock`.
//!
//! They implement no trait, and what gives a lock back is the guard's destructor, which knows the lock's word alone. So every function's
//! lock is that word: where it lies is read off the function's first atomic operation.

use super::rust_name;
use crate::llvm::{Module, Opcode, Value, ValueKind};
use crate::locks::function::{LockFunction, Success, WhichLock};
use crate::shape::scalar_bits;
use foretrace_runtime::lock_calls::{
    Action::{self, Ask, Give, Take, Try},
    Hold::{self, Alone, Mutex, Shared},
    LockCall,
};

/// The crate's name.
pub(crate) const SPIN: &str = "spin";

/// Functions, without the arguments of types.
const FUNCTIONS: [(&str, Action, Hold); 13] = [
    ("spin::mutex::spin::SpinMutex::lock", Take, Mutex),
    ("spin::mutex::spin::SpinMutex::try_lock", Try, Mutex),
    ("spin::mutex::spin::SpinMutex::is_locked", Ask, Mutex),
    ("spin::mutex::spin::SpinMutex::force_unlock", Give, Mutex),
    ("SpinMutexGuard as core::ops::drop::Drop::drop", Give, Mutex),
    ("spin::rwlock::RwLock::read", Take, Shared),
    ("spin::rwlock::RwLock::try_read", Try, Shared),
    ("spin::rwlock::RwLock::write", Take, Alone),
    ("spin::rwlock::RwLock::try_write", Try, Alone),
    ("spin::rwlock::RwLock::force_read_decrement", Give, Shared),
    ("spin::rwlock::RwLock::force_write_unlock", Give, Alone),
    ("RwLockReadGuard as core::ops::drop::Drop::drop", Give, Shared),
    ("RwLockWriteGuard as core::ops::drop::Drop::drop", Give, Alone),
];
/// Where a program has these, its locks that can be shared stay what they consist of.
const NOT_KNOWN: [&str; 4] =
    ["::upgradeable_read", "::try_upgradeable_read", "RwLockWriteGuard::downgrade", "::downgrade_to_upgradeable"];
/// How deep the functions are looked into.
const DEEPEST: u32 = 4;

/// The functions of these locks in a module.
pub(crate) fn locks_of_spin(module: &Module) -> Vec<(Value, LockFunction)> {
    let defined = module.functions().into_iter().filter(|function| !function.is_declaration());
    let named = defined.filter_map(|function| name(function).map(|name| (function, name)));
    let functions: Vec<(Value, String)> = named.filter(|(_, name)| name.contains("spin::")).collect();
    let is_unknown = |name: &String| NOT_KNOWN.iter().any(|end| name.ends_with(end));
    let changes = functions.iter().any(|(_, name)| is_unknown(name));
    let known = functions.iter().filter_map(|(function, name)| {
        let short = name.strip_prefix("spin::mutex::spin::").filter(|_| name.contains(" as "));
        let short = short.or_else(|| name.strip_prefix("spin::rwlock::").filter(|_| name.contains(" as ")));
        let short = short.unwrap_or(name);
        let (.., action, hold) = FUNCTIONS.iter().find(|(known, ..)| *known == short)?;
        Some((*function, *action, *hold))
    });
    let wanted = known.filter(|(.., hold)| !changes || *hold == Mutex);
    wanted.filter_map(|(function, action, hold)| Some((function, lock(function, action, hold)?))).collect()
}

fn lock(function: Value, action: Action, hold: Hold) -> Option<LockFunction> {
    let call = LockCall::new(action, hold, false);
    let success = match action {
        Try => Success::First,
        Ask => Success::NotZero,
        _ => Success::Always,
    };
    Some(LockFunction { call, lock: WhichLock::Word(word(function, DEEPEST)?), success, time: None })
}

/// A path without brackets and what types are applied to.
fn name(function: Value) -> Option<String> {
    let name = rust_name(&function.name())?;
    let name = name.strip_prefix('<').map_or_else(|| name.clone(), |rest| rest.replacen(">::", "::", 1));
    let mut depth = 0u32;
    let kept = name.chars().filter(|character| {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    });
    Some(kept.collect::<String>().replace("::::", "::"))
}

/// The path from a function's first parameter to the word that it first operates on, or that a function does to which it passes a
/// path on.
fn word(function: Value, depth: u32) -> Option<Vec<u64>> {
    let calls = function.blocks().into_iter().flat_map(|block| block.instructions());
    calls.filter(|value| matches!(value.opcode(), Opcode::Call | Opcode::Invoke)).find_map(|call| {
        let callee = Some(call.callee()).filter(|callee| callee.kind() == ValueKind::Function)?;
        let to_argument = path(function, *call.arguments().first()?)?;
        let name = rust_name(&callee.name())?;
        if name.contains("core::sync::atomic::") {
            return Some(to_argument);
        }
        if depth == 0 || callee.is_declaration() || !name.contains("spin::") {
            return None;
        }
        let mut rest = word(callee, depth - 1)?.into_iter();
        let mut whole = to_argument;
        *whole.last_mut()? += rest.next()?;
        whole.extend(rest);
        Some(whole)
    })
}

/// How a pointer follows from a function's first parameter.
fn path(function: Value, pointer: Value) -> Option<Vec<u64>> {
    if function.parameters().first() == Some(&pointer) {
        return Some(vec![0]);
    }
    if pointer.kind() != ValueKind::Instruction {
        return None;
    }
    match pointer.opcode() {
        Opcode::GetElementPtr if scalar_bits(pointer.element_type()) == 8 && pointer.operand_count() == 2 => {
            let offset = pointer.operand(1);
            let mut path = path(function, pointer.operand(0))?;
            *path.last_mut()? += (offset.kind() == ValueKind::Int).then(|| offset.unsigned())?;
            Some(path)
        }
        Opcode::Load => {
            let mut path = path(function, pointer.operand(0))?;
            path.push(0);
            Some(path)
        }
        _ => None,
    }
}
