//! Both versions in one module: each function that can be entered from elsewhere looks first whether the process is
//! recorded, and goes to the plain one if not.

use super::plain::{Entered, Plain};
use crate::llvm::{Builder, Linkage, LlvmError, Module, Opcode, TypeKind, Value, ValueKind};
use std::collections::{HashMap, HashSet};

/// The variable of the runtime that says whether anything is recorded.
const MODE: &str = "__foretrace_mode";
/// Its value if not.
const OFF: u64 = 0;
/// What functions that are recorded are called more than the program calls them.
const SUFFIX: &str = ".recorded";
/// LLVM's number of the predicate for equality.
const EQUAL: u32 = 32;

/// Symbols that have to outlast optimisation for the sake of the other half, and how the linker shall see them.
pub struct Held(HashMap<String, Linkage>);

/// Makes what the plain half needs stay in the instrumented one.
pub fn hold(module: &Module, needed: &HashSet<String>) -> Held {
    let mut held = HashMap::new();
    for symbol in module.symbols().into_iter().filter(|symbol| needed.contains(&symbol.name())) {
        let linkage = symbol.linkage();
        let until_joined = match linkage {
            Linkage::Internal | Linkage::Private => Linkage::External,
            Linkage::WeakIfUsed => Linkage::Weak,
            Linkage::MergedIfUsed => Linkage::Merged,
            _ => continue,
        };
        symbol.set_linkage(until_joined);
        held.insert(symbol.name(), linkage);
    }
    Held(held)
}

/// Takes the plain half in. `kept` says whether a call that is never recorded, of the first function by the second, enters the
/// plain one in any mode.
pub fn join<'a>(
    module: &Module<'a>,
    plain: Plain<'a>,
    held: &Held,
    kept: impl Fn(&str, &str) -> bool,
) -> Result<(), LlvmError> {
    let entered: Vec<Entered> = plain.entered.into_iter().filter(|entered| is_entered(module, entered, held)).collect();
    let twins: HashSet<&str> = entered.iter().map(|entered| entered.plain.as_str()).collect();
    for function in plain.module.functions().into_iter().filter(|function| !function.is_declaration()) {
        if !twins.contains(function.name().as_str()) {
            function.make_internal();
        }
    }
    module.take_in(plain.module)?;
    for symbol in module.symbols() {
        if let Some(linkage) = held.0.get(&symbol.name()) {
            symbol.set_linkage(*linkage);
        }
    }
    enter_plain(module, &entered, kept); // while functions have their names
    let mode = module.declare_variable(MODE, module.context().int(8));
    for entered in &entered {
        let (Some(function), Some(twin)) = (module.function(&entered.name), module.function(&entered.plain)) else {
            continue;
        };
        dispatch(module, mode, function, twin);
        seen_as(module, twin, entered.linkage);
    }
    Ok(())
}

/// Calls that are never recorded go to plain functions.
fn enter_plain(module: &Module, entered: &[Entered], kept: impl Fn(&str, &str) -> bool) {
    for entered in entered {
        let (Some(function), Some(twin)) = (module.function(&entered.name), module.function(&entered.plain)) else {
            continue;
        };
        for user in function.users() {
            if calls(user, function) && kept(&entered.name, &user.function().name()) {
                user.set_callee(twin);
            }
        }
    }
}

/// Whether a function is still there and can still be entered without our knowing.
fn is_entered(module: &Module, entered: &Entered, held: &Held) -> bool {
    let Some(function) = module.function(&entered.name) else { return false };
    let is_known = !function.linkage().is_local() || held.0.contains_key(&entered.name) || has_address(function);
    !function.is_declaration() && is_known
}

/// Whether a function is used other than by calls.
fn has_address(function: Value) -> bool {
    function.users().into_iter().any(|user| !calls(user, function) || user.arguments().contains(&function))
}

/// Whether a user of a function is a call of it.
fn calls(user: Value, function: Value) -> bool {
    user.kind() == ValueKind::Instruction
        && matches!(user.opcode(), Opcode::Call | Opcode::Invoke)
        && user.callee() == function
}

/// A plain function that several units have is merged like the instrumented one, but by itself: of the other the linker may
/// keep one that has no plain function.
fn seen_as(module: &Module, twin: Value, linkage: Linkage) {
    if matches!(linkage, Linkage::Merged | Linkage::MergedIfUsed) {
        twin.set_linkage(Linkage::MergedIfUsed);
        twin.hide();
        module.group_alone(twin);
    } else {
        twin.make_internal();
    }
}

/// Gives a function's place to one that looks at the mode and goes on to either, so that what comes first costs nothing more.
fn dispatch(module: &Module, mode: Value, recorded: Value, plain: Value) {
    let (context, name, ty) = (module.context(), recorded.name(), recorded.function_type());
    recorded.set_name(&format!("{name}{SUFFIX}"));
    let function = module.declare(&name, ty);
    function.take_looks_of(recorded);
    recorded.replace_with(function);
    recorded.make_internal();
    let [look, off, on] = ["look", "off", "on"].map(|name| context.block(function, name));
    let builder = Builder::new(context);
    builder.at_end(look);
    let byte = context.int(8);
    let is_off = builder.compare(EQUAL, builder.load(byte, mode), byte.constant(OFF));
    builder.branch(is_off, off, on);
    for (block, target) in [(off, plain), (on, recorded)] {
        builder.at_end(block);
        let call = builder.call(ty, target, &function.parameters());
        call.pass_on(function);
        call.set_tail_call(ty.is_variadic());
        if ty.returned().kind() == TypeKind::Void {
            builder.ret_nothing();
        } else {
            builder.ret(call);
        }
    }
}
