//! The plain versions: the functions as they were before anything was inserted, optimised as the program ships.
//!
//! With recording off this half runs. It is a separate module while it is optimised. That module has the memory and the symbols of the
//! instrumented half as declarations: there is one copy of each variable, and a function has one address, that of the instrumented one.
//! Direct calls from plain code to plain code stay direct and can be inlined, since a process in which recording is off stays one (see
//! `mode.rs` of the runtime).

use crate::describe::cannot_describe;
use crate::labels::own_tables;
use crate::llvm::{Linkage, LlvmError, Machine, Module, Opcode, Value, ValueKind};
use std::collections::{HashMap, HashSet};

/// What plain functions are called more than their instrumented ones.
const SUFFIX: &str = ".plain";

/// The plain half of a module.
pub struct Plain<'a> {
    /// Its functions, the variables of the other half as declarations.
    pub module: Module<'a>,
    /// Functions that can be entered from elsewhere.
    pub entered: Vec<Entered>,
}

/// A function that can be called by who does not know that there are two of it.
pub struct Entered {
    /// Its symbol.
    pub name: String,
    /// That of the plain one.
    pub plain: String,
    /// How the linker saw it.
    pub linkage: Linkage,
}

impl<'a> Plain<'a> {
    /// Takes it from a module that nothing was done to, and optimises it. What the module has no name for gets one. `stays`
    /// tells which functions are never instrumented, and need not be there twice.
    pub fn from_module(
        module: &Module<'a>,
        passes: &str,
        machine: &Machine,
        stays: impl Fn(&str) -> bool,
    ) -> Result<Plain<'a>, LlvmError> {
        for (symbol, number) in module.symbols().into_iter().filter(|symbol| symbol.name().is_empty()).zip(0..) {
            symbol.set_name(&format!("__foretrace_unnamed.{number}"));
        }
        let copy = module.copy();
        let entered = declare_rest(&copy, stays);
        // Variables of the source can be looked at where the program is recorded.
        copy.run("strip-nonlinetable-debuginfo,globaldce", machine)?;
        copy.run(passes, machine)?;
        Ok(Plain { entered: separate(&copy, &entered), module: copy })
    }

    /// The symbols of the other half that this one uses.
    pub fn needed(&self) -> HashSet<String> {
        let symbols = self.module.functions().into_iter().chain(self.module.variables());
        symbols.filter(|symbol| symbol.is_declaration()).map(Value::name).collect()
    }
}

/// Whether a function cannot be there twice.
fn is_single(function: Value) -> bool {
    cannot_describe(function).is_some()
        || function.has_attribute("returns_twice")
        || own_tables(function).is_none()
        || function
            .blocks()
            .into_iter()
            .flat_map(|block| block.instructions())
            .flat_map(|instruction| instruction.operands())
            .any(|operand| operand.kind() == ValueKind::InlineAsm && defines_symbol(&operand.assembly()))
}

/// Whether assembly has a label that is not numbered again wherever it is put.
fn defines_symbol(assembly: &str) -> bool {
    assembly.split(['\n', ';']).any(|line| {
        let label = line.trim_start().split_once(':').map(|(label, _)| label.trim_end());
        label.is_some_and(|label| {
            label.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_' || first == '.')
                && label.chars().all(|next| next.is_ascii_alphanumeric() || matches!(next, '_' | '.' | '$'))
        })
    })
}

/// Leaves bodies to those functions alone that are there twice. Of everything else optimisation may see what it holds.
fn declare_rest(module: &Module, stays: impl Fn(&str) -> bool) -> HashMap<String, Linkage> {
    let defined: Vec<Value> = module.functions().into_iter().filter(|function| !function.is_declaration()).collect();
    let single: HashSet<Value> =
        defined.iter().copied().filter(|function| is_single(*function)).chain(module.resolvers()).collect();
    let tables =
        defined.iter().filter(|function| !single.contains(function)).filter_map(|function| own_tables(*function));
    let tables: HashSet<Value> = tables.flatten().collect();
    module.clear_assembly();
    resolve_aliases(module);
    let called: HashSet<Value> = module.functions().into_iter().filter(|function| is_only_called(*function)).collect();
    for ifunc in module.ifuncs() {
        declare_instead(module, ifunc);
        ifunc.delete_ifunc();
    }
    for variable in module.variables().into_iter().filter(|variable| !variable.is_declaration()) {
        if variable.linkage() == Linkage::Appended {
            variable.delete_global(); // lists that the other half has
        } else if tables.contains(&variable) {
            variable.set_name(&format!("{}{SUFFIX}", variable.name()));
        } else {
            variable.leave_group();
            variable.set_linkage(Linkage::Elsewhere);
        }
    }
    let mut entered = HashMap::new();
    for function in module.functions().into_iter().filter(|function| !function.is_declaration()) {
        function.leave_group();
        let linkage = function.linkage();
        if linkage == Linkage::Elsewhere {
            continue;
        }
        if stays(&function.name()) {
            function.set_linkage(Linkage::Elsewhere);
        } else if single.contains(&function) {
            function.set_linkage(Linkage::Elsewhere);
            if !function.has_attribute("alwaysinline") {
                module.add_attribute(function, "noinline");
            }
        } else if !(linkage.is_local() && called.contains(&function)) {
            entered.insert(function.name(), linkage);
            function.set_linkage(match linkage {
                Linkage::Weak | Linkage::WeakIfUsed => Linkage::Weak,
                Linkage::Merged | Linkage::MergedIfUsed => Linkage::Merged,
                _ => Linkage::External,
            });
        }
    }
    entered
}

/// Whether no one has the address of a function.
fn is_only_called(function: Value) -> bool {
    function.users().into_iter().all(|user| {
        user.kind() == ValueKind::Instruction
            && matches!(user.opcode(), Opcode::Call | Opcode::Invoke)
            && user.callee() == function
            && !user.arguments().contains(&function)
    })
}

/// Other names give way to what they stand for, or to declarations.
fn resolve_aliases(module: &Module) {
    for alias in module.aliases() {
        let target = alias.aliasee();
        if matches!(target.kind(), ValueKind::Function | ValueKind::Global) && !alias.linkage().is_replaceable() {
            alias.replace_with(target);
        } else {
            declare_instead(module, alias);
        }
        alias.set_name("");
        alias.set_linkage(Linkage::Internal);
    }
}

/// A declaration takes name and place of a symbol.
fn declare_instead(module: &Module, symbol: Value) {
    let name = symbol.name();
    symbol.set_name("");
    let ty = symbol.function_type();
    let declared = match ty.kind() {
        crate::llvm::TypeKind::Function => module.declare(&name, ty),
        _ => module.declare_variable(&name, ty),
    };
    symbol.replace_with(declared);
}

/// After optimisation: what is entered from elsewhere is known by its address in the other half, and called under its
/// new name from here.
fn separate(module: &Module, entered: &HashMap<String, Linkage>) -> Vec<Entered> {
    let defined: Vec<Value> = module.functions().into_iter().filter(|function| !function.is_declaration()).collect();
    let mut found = Vec::new();
    let mut known = HashMap::new();
    for function in &defined {
        let name = function.name();
        let plain = format!("{name}{SUFFIX}");
        function.set_name(&plain);
        let Some(linkage) = entered.get(&name) else { continue };
        let other = module.declare(&name, function.function_type());
        function.replace_with(other);
        if !linkage.is_replaceable() {
            known.insert(other, *function);
        }
        found.push(Entered { name, plain, linkage: *linkage });
    }
    let instructions = defined.iter().flat_map(|function| function.blocks()).flat_map(|block| block.instructions());
    for call in instructions.filter(|value| matches!(value.opcode(), Opcode::Call | Opcode::Invoke)) {
        if let Some(plain) = known.get(&call.callee()) {
            call.set_callee(*plain);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_in_assembly_are_told_from_numbers() {
        for (assembly, defines) in [
            ("movl $$1, %eax", false),
            ("1: jmp 1b", false),
            (".Lx${:uid}: nop", false),
            ("nop\n\tlabel: nop", true),
            ("nop; .Lhere :", true),
            ("leaq %fs:0, %rax", false),
        ] {
            assert_eq!(defines_symbol(assembly), defines, "{assembly}");
        }
    }
}
