//! Both halves in one module: each function that can be entered from elsewhere looks first whether the process is
//! recorded, and goes to the plain one if not.

use crate::llvm::{Block, Builder, Linkage, LlvmError, Module, Opcode, Value, ValueKind};
use crate::plain::{Entered, Plain};
use std::collections::{HashMap, HashSet};

/// The variable of the runtime that says whether anything is recorded.
const MODE: &str = "__foretrace_mode";
/// Its value if not.
const OFF: u64 = 0;
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

/// Takes the plain half in.
pub fn join<'a>(module: &Module<'a>, plain: Plain<'a>, held: &Held) -> Result<(), LlvmError> {
    let entered: Vec<Entered> = plain.entered.into_iter().filter(|entered| is_entered(module, entered, held)).collect();
    let twins: HashSet<&str> = entered.iter().map(|entered| entered.plain.as_str()).collect();
    for function in plain.module.functions().into_iter().filter(|function| !function.is_declaration()) {
        if !twins.contains(function.name().as_str()) {
            function.set_linkage(Linkage::Internal);
        }
    }
    module.take_in(plain.module)?;
    for symbol in module.symbols() {
        if let Some(linkage) = held.0.get(&symbol.name()) {
            symbol.set_linkage(*linkage);
        }
    }
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

/// Whether a function is still there and can still be entered without our knowing.
fn is_entered(module: &Module, entered: &Entered, held: &Held) -> bool {
    let Some(function) = module.function(&entered.name) else { return false };
    let is_known = !function.linkage().is_local() || held.0.contains_key(&entered.name) || has_address(function);
    !function.is_declaration() && is_known
}

/// Whether a function is used other than by calls.
fn has_address(function: Value) -> bool {
    function.users().into_iter().any(|user| {
        user.kind() != ValueKind::Instruction
            || !matches!(user.opcode(), Opcode::Call | Opcode::Invoke)
            || user.callee() != function
            || user.arguments().contains(&function)
    })
}

/// A plain function that several units have is merged like the instrumented one, but by itself: of the other the linker may
/// keep one that has no plain function.
fn seen_as(module: &Module, twin: Value, linkage: Linkage) {
    if matches!(linkage, Linkage::Merged | Linkage::MergedIfUsed) {
        twin.set_linkage(Linkage::MergedIfUsed);
        twin.hide();
        module.group_alone(twin);
    } else {
        twin.set_linkage(Linkage::Internal);
    }
}

/// Inserts the look at the mode, before anything else in a function.
fn dispatch(module: &Module, mode: Value, function: Value, twin: Value) {
    let context = module.context();
    let Some(&entry) = function.blocks().first() else { return };
    let look = context.block_before(entry, "mode");
    let off = context.block_before(entry, "off");
    let builder = Builder::new(context);
    builder.at_end(look);
    for alloca in fixed_allocas(entry) {
        builder.take(alloca);
    }
    let byte = context.int(8);
    let is_off = builder.compare(EQUAL, builder.load(byte, mode), byte.constant(OFF));
    builder.branch(is_off, off, entry);
    builder.at_end(off);
    let ty = function.function_type();
    let call = builder.call(ty, twin, &function.parameters());
    call.pass_on(function);
    call.set_tail_call(ty.is_variadic());
    if let Some(subprogram) = function.subprogram() {
        call.set_no_line(context, subprogram);
    }
    if ty.returned().kind() == crate::llvm::TypeKind::Void {
        builder.ret_nothing();
    } else {
        builder.ret(call);
    }
}

/// The allocas of the first block that are part of the frame; elsewhere they would grow the stack.
fn fixed_allocas(entry: Block) -> Vec<Value> {
    let is_fixed = |value: &Value| value.opcode() == Opcode::Alloca && value.operand(0).kind() == ValueKind::Int;
    entry.instructions().into_iter().filter(is_fixed).collect()
}
