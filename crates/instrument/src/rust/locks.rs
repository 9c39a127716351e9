//! The locks of Rust's standard library: its mutexes, rwlocks and condition variables are words that inlined code changes by atomic
//! operations, and futexes. As data they would be noise, and a contended lock performs a varying number of operations. So each operation
//! becomes one call of the runtime, which locks the same word, waits, and records.
//!
//! The chain of inlined functions says to which function of the library an operation belongs. An unknown operation on such a word stops the
//! compilation: all operations of a lock must be replaced, or none.

use super::{plain, rust_name};
use crate::llvm::{Builder, Metadata, Module, Opcode, Type, Value, ValueKind};
use std::collections::HashMap;

/// An operation of a lock that this version of foretrace does not know.
#[derive(Debug, thiserror::Error)]
#[error(
    "{function}: its {operation} is not known to foretrace; this version of the standard library cannot be recorded"
)]
pub struct UnknownLock {
    /// The function of the standard library.
    pub function: String,
    /// What it does to the lock.
    pub operation: String,
}

/// What becomes of an atomic operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    /// Of an operation that is a call: another function of the same type is called.
    Callee(&'static str),
    /// Of an instruction: a function gets the address, and its answer is the value.
    Call(&'static str),
    /// It is not done, and its value is 0.
    Zero,
}

/// The operations that inlined functions consist of.
const INLINED: [(&str, &str, Change); 13] = [
    ("mutex::futex::Mutex::lock", "compare_exchange", Change::Callee("mutex_lock")),
    ("mutex::futex::Mutex::try_lock", "compare_exchange", Change::Callee("mutex_try_lock")),
    ("mutex::futex::Mutex::unlock", "swap", Change::Call("mutex_unlock")),
    ("rwlock::futex::RwLock::read", "load", Change::Zero),
    ("rwlock::futex::RwLock::read", "compare_exchange", Change::Callee("rwlock_read")),
    ("rwlock::futex::RwLock::try_read", "update", Change::Callee("rwlock_try_read")),
    ("rwlock::futex::RwLock::read_unlock", "sub", Change::Call("rwlock_read_unlock")),
    ("rwlock::futex::RwLock::write", "compare_exchange", Change::Callee("rwlock_write")),
    ("rwlock::futex::RwLock::try_write", "update", Change::Callee("rwlock_try_write")),
    ("rwlock::futex::RwLock::write_unlock", "sub", Change::Call("rwlock_write_unlock")),
    ("rwlock::futex::RwLock::downgrade", "add", Change::Call("rwlock_downgrade")),
    ("condvar::futex::Condvar::notify_one", "add", Change::Call("condvar_notify_one")),
    ("condvar::futex::Condvar::notify_all", "add", Change::Call("condvar_notify_all")),
];

/// Functions that are called.
const CALLED: [(&str, &str); 4] = [
    ("std::sys::sync::condvar::futex::Condvar::wait", "condvar_wait"),
    ("std::sys::sync::condvar::futex::Condvar::wait_timeout", "condvar_wait_timeout"),
    ("std::sync::poison::condvar::Condvar::notify_one", "condvar_notify_one"),
    ("std::sync::poison::condvar::Condvar::notify_all", "condvar_notify_all"),
];

/// Where the functions of locks live.
const MODULE: &str = "std::sys::sync::";
const LOCKS: [&str; 3] = ["mutex::futex::Mutex::", "rwlock::futex::RwLock::", "condvar::futex::Condvar::"];

/// Gives the locks in a module to the runtime.
pub(crate) fn give_to_runtime(module: &Module) -> Result<(), UnknownLock> {
    let mut locks = Locks { module, builder: Builder::new(module.context()), functions: HashMap::new() };
    for function in module.functions() {
        if let Some(runtime) = called(function) {
            function.replace_with(locks.runtime(runtime, function.function_type()));
        }
    }
    let bodies: Vec<Value> =
        module.functions().into_iter().flat_map(Value::blocks).flat_map(|b| b.instructions()).collect();
    for instruction in bodies {
        locks.instruction(instruction)?;
    }
    Ok(())
}

/// What the runtime has in place of a function.
fn called(function: Value) -> Option<&'static str> {
    let name = plain(&rust_name(&function.name())?);
    CALLED.iter().find(|(called, _)| *called == name).map(|(_, runtime)| *runtime)
}

struct Locks<'a> {
    module: &'a Module<'a>,
    builder: Builder,
    /// Per function of debug information, the function of a lock that it is.
    functions: HashMap<Metadata, Option<String>>,
}

impl Locks<'_> {
    fn instruction(&mut self, instruction: Value) -> Result<(), UnknownLock> {
        let Some(operation) = operation(instruction) else { return Ok(()) };
        let Some(function) = self.lock_of(instruction) else { return Ok(()) };
        let fits = |(name, by, _): &&(&str, &str, Change)| function == **name && operation.contains(*by);
        let is_call = matches!(instruction.opcode(), Opcode::Call | Opcode::Invoke);
        match INLINED.iter().find(fits) {
            Some((.., Change::Callee(runtime))) if is_call => {
                let runtime = self.runtime(runtime, instruction.callee().function_type());
                instruction.set_callee(runtime);
            }
            Some((.., Change::Call(runtime))) if !instruction.is_invoke() => self.call(instruction, runtime),
            Some((.., Change::Zero)) if !instruction.is_invoke() => {
                instruction.replace_with(instruction.ty().constant(0));
                instruction.erase();
            }
            _ => return Err(UnknownLock { function: format!("{MODULE}{function}"), operation }),
        }
        Ok(())
    }

    fn call(&mut self, instruction: Value, runtime: &str) {
        let address = instruction.operand(0);
        let ty = self.module.context().function(&[address.ty()], instruction.ty());
        self.builder.before(instruction);
        let value = self.builder.call(ty, self.runtime(runtime, ty), &[address]);
        instruction.replace_with(value);
        instruction.erase();
    }

    fn runtime(&self, name: &str, ty: Type) -> Value {
        let name = format!("__foretrace_rust_{name}");
        self.module.function(&name).unwrap_or_else(|| self.module.declare(&name, ty))
    }

    /// The function of a lock that an instruction was inlined from.
    fn lock_of(&mut self, instruction: Value) -> Option<String> {
        let context = self.module.context();
        let positions = std::iter::successors(instruction.position(), |position| position.inlined_at());
        positions.take(64).find_map(|position| {
            let node = context.function_of_scope(position.scope_of_position())?;
            self.functions.entry(node).or_insert_with(|| lock_function(&context.symbol_of_function(node))).clone()
        })
    }
}

/// The function of a lock that a symbol is.
fn lock_function(symbol: &str) -> Option<String> {
    let name = plain(&rust_name(symbol)?);
    let function = name.strip_prefix(MODULE)?;
    LOCKS.iter().any(|lock| function.starts_with(lock)).then(|| function.to_owned())
}

/// The atomic operation that an instruction is, as the standard library calls it.
fn operation(instruction: Value) -> Option<String> {
    match instruction.opcode() {
        Opcode::Call | Opcode::Invoke => {
            let callee = Some(instruction.callee()).filter(|callee| callee.kind() == ValueKind::Function)?;
            let name = plain(&rust_name(&callee.name())?);
            Some(name.strip_prefix("core::sync::atomic::")?.to_owned())
        }
        Opcode::AtomicCmpXchg => Some("compare_exchange".to_owned()),
        Opcode::AtomicRMW => Some(update_name(instruction.update_operation()).to_owned()),
        Opcode::Load if instruction.is_atomic() => Some("load".to_owned()),
        Opcode::Store if instruction.is_atomic() => Some("store".to_owned()),
        _ => None,
    }
}

/// LLVM numbers its atomic updates in this order.
fn update_name(operation: u32) -> &'static str {
    ["swap", "add", "sub", "and", "nand", "or", "xor"].get(operation as usize).copied().unwrap_or("update")
}
