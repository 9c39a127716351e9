//! Variable arguments. The callee finds those that come in registers in an area that its entry saves (System V ABI for
//! x86-64, figure 3.33); there they keep their terms. The others are fixed.

use super::Walk;
use super::thread::Step;
use crate::program::Function;
use crate::value::{Value, Word};
use foretrace_instrument::sidecar::{Operand, Parameter, Type};
use foretrace_runtime::record::Kind;

/// Registers for integers and pointers, each of 8 bytes.
const GENERAL: u64 = 6;
/// Registers for floats, each of 16 bytes.
const VECTOR: u64 = 8;

/// An argument of a call.
pub(super) struct Argument {
    pub value: Value,
    class: Class,
}

/// Which registers an argument comes in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    General,
    Vector,
    /// It does not, or that is not known.
    Other,
}

fn class(ty: &Type) -> Class {
    match ty {
        Type::Int(_) | Type::Pointer => Class::General,
        Type::Float(_) => Class::Vector,
        Type::Void | Type::Aggregate(_) | Type::Other => Class::Other,
    }
}

impl Walk<'_, '_> {
    /// What a call of this function's gives.
    pub(super) fn given(&self, caller: &Function, operands: &[Operand]) -> Vec<Argument> {
        let of = |operand: &Operand| match operand {
            Operand::Local(index) => caller.instructions.get(*index as usize).map_or(Class::Other, |i| class(&i.ty)),
            Operand::Parameter(index) => caller.parameters.get(*index as usize).map_or(Class::Other, |p| class(&p.ty)),
            Operand::Constant(..) | Operand::Address(..) | Operand::Opaque => Class::General,
            Operand::Float(..) => Class::Vector,
            Operand::Aggregate(_) | Operand::Undefined => Class::Other,
        };
        operands.iter().map(|operand| Argument { value: self.operand(operand), class: of(operand) }).collect()
    }

    /// The variable arguments that come in registers; others are fixed. Those after one that nobody can place, too.
    pub(super) fn variadic(&mut self, callee: &Function, arguments: Vec<Argument>) -> Vec<(u64, Word)> {
        let is = |parameter: &&Parameter, wanted| parameter.by_value.is_none() && class(&parameter.ty) == wanted;
        let named = |wanted| callee.parameters.iter().filter(|parameter| is(parameter, wanted)).count() as u64;
        let (mut general, mut vector) = (named(Class::General), named(Class::Vector));
        let (mut placed, mut lost) = (Vec::new(), false);
        for argument in arguments.into_iter().skip(callee.parameters.len()) {
            lost |= argument.class == Class::Other;
            let place = match argument.class {
                Class::General if general < GENERAL => general * 8,
                Class::Vector if vector < VECTOR => GENERAL * 8 + vector * 16,
                _ => u64::MAX,
            };
            match argument.class {
                Class::General => general += 1,
                _ => vector += 1,
            }
            match argument.value {
                Value::Word(word) if place != u64::MAX && !lost && word.is_known() => placed.push((place, word)),
                value => self.pin_value(&value, "variadic argument"),
            }
        }
        placed
    }

    /// The function is about to look at them.
    pub(super) fn start_variadic(&mut self, function: &Function, index: usize) -> Step<()> {
        let record = self.expect(function, index, "a list of arguments'", |kind| kind == Kind::Value)?;
        let arguments = self.frame()?.variadic.clone();
        for (place, word) in arguments {
            let size = word.width().div_ceil(8);
            let bytes = self.world.expressions.split(word, size);
            self.world.memory.store(record.words[0].wrapping_add(place), &bytes);
        }
        self.set(index, Value::Untracked)
    }
}
