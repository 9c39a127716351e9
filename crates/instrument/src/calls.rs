//! Which calls lead to instrumented code, and which to functions of the C library that have hooks.

use crate::llvm::{Linkage, Module, Opcode, TypeKind, Value, ValueKind};
use crate::operand::symbol_name;
use crate::shape::scalar_bits;
use foretrace_runtime::library::{By, Function};
use std::collections::HashSet;

/// What is known of the functions of a module.
pub struct Calls {
    instrumented: HashSet<Value>,
    replaceable: bool,
}

impl Calls {
    /// With these functions instrumented.
    pub fn in_module(module: &Module, instrumented: &[Value]) -> Calls {
        // A symbol of a shared library may be that of another; one of a program is its own.
        let replaceable = module.has_flag("PIC Level") && !module.has_flag("PIE Level");
        Calls { instrumented: instrumented.iter().copied().collect(), replaceable }
    }

    /// Whether a call of this function certainly leads there, to instrumented code that returns to the call.
    pub fn surely_comes_back(&self, callee: Value) -> bool {
        self.instrumented.contains(&callee)
            && !callee.has_attribute("returns_twice")
            && match callee.linkage() {
                Linkage::Internal | Linkage::Private => true,
                Linkage::External => !self.replaceable || !callee.is_default_visible(),
                _ => false,
            }
    }
}

/// The function of the C or C++ library that a call calls, if its accesses are recorded. The runtime performs none that may unwind. A function of
/// the program that has the name of one of the library has other arguments, as a rule.
pub fn recorded_library(call: Value) -> Option<Function> {
    let callee = call.callee();
    if callee.kind() != ValueKind::Function || !(callee.is_declaration() || callee.linkage() == Linkage::Elsewhere) {
        return None;
    }
    let function = Function::named(&symbol_name(callee))?;
    let arguments = call.arguments();
    let fits = match function.by() {
        By::Runtime => {
            arguments.len() == function.arguments()
                && call.opcode() == Opcode::Call
                && arguments[0].ty().kind() == TypeKind::Pointer
                && arguments.iter().all(|argument| is_word(argument.ty()))
        }
        By::ReadsFirst | By::WritesLast => {
            let is_pointer = |at: &usize| arguments[*at].ty().kind() == TypeKind::Pointer;
            arguments.len() >= function.arguments()
                && (function.is_variadic() || arguments.len() == function.arguments())
                && function.pointers().iter().all(is_pointer)
                && function.effects().is_none_or(|effects| effects.arguments().all(|at| is_pointer(&at)))
                && (!function.gives_memory() || call.ty().kind() == TypeKind::Pointer)
        }
    };
    (fits && scalar_bits(call.ty()) <= 64).then_some(function)
}

fn is_word(ty: crate::llvm::Type) -> bool {
    matches!(ty.kind(), TypeKind::Pointer | TypeKind::Integer) && scalar_bits(ty) > 0
}

/// Whether a call of assembly does nothing but keep the compiler from moving accesses.
pub fn is_barrier(call: Value) -> bool {
    call.opcode() == Opcode::Call && call.arguments().is_empty() && call.callee().assembly().trim().is_empty()
}
