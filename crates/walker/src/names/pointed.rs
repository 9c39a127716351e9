//! What an address points at, by the types of the source: the variables and parameters that it is computed from have types of pointers.

use super::types::{DEEPEST, Shape, TypeRef, Types};
use crate::program::Function;
use foretrace_instrument::sidecar::{CastOp, Op, Operand};

/// A place within an object of a known type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pointed {
    pub ty: TypeRef,
    pub offset: u64,
}

/// Steps from an address to the variable that it comes from; what is longer has no name worth it.
const LONGEST: u32 = 16;

impl Types {
    /// What the address of an access points at.
    pub(super) fn accessed(&self, function: &Function, instruction: usize) -> Option<Pointed> {
        let address = match &function.instructions.get(instruction)?.op {
            Op::Load { address, .. }
            | Op::Store { address, .. }
            | Op::Update { address, .. }
            | Op::CompareAndSwap { address, .. } => address,
            _ => return None,
        };
        self.pointed(function, address, LONGEST)
    }

    /// What a parameter points at.
    pub(super) fn of_parameter(&self, function: &Function, parameter: usize) -> Option<TypeRef> {
        let own = self.local(&function.symbol, &function.parameters.get(parameter)?.name);
        let ty = own.or_else(|| self.local(&function.symbol, variable_of_parameter(function, parameter)?));
        self.pointee(ty?)
    }

    fn pointed(&self, function: &Function, operand: &Operand, steps: u32) -> Option<Pointed> {
        let at_start = |ty| Pointed { ty, offset: 0 };
        let steps = steps.checked_sub(1)?;
        match operand {
            Operand::Parameter(parameter) => self.of_parameter(function, *parameter as usize).map(at_start),
            Operand::Constant(64, address) => self.static_at(*address),
            Operand::Local(index) => {
                let instruction = function.instructions.get(*index as usize)?;
                let variable = || self.local(&function.symbol, &instruction.name);
                let found = match &instruction.op {
                    Op::Alloca { .. } => return variable().map(at_start),
                    Op::Offset { base, offset, indices } => {
                        let inner = self.pointed(function, base, steps);
                        inner.and_then(|inner| self.further(inner, *offset, indices))
                    }
                    Op::Load { address, size: 8, .. } => {
                        let slot = self.pointed(function, address, steps);
                        slot.and_then(|slot| self.pointer_at(slot)).map(at_start)
                    }
                    Op::Cast { by: CastOp::Move, value, .. } => self.pointed(function, value, steps),
                    Op::Select { yes, .. } => self.pointed(function, yes, steps),
                    _ => None,
                };
                found.or_else(|| variable().and_then(|ty| self.pointee(ty)).map(at_start))
            }
            _ => None,
        }
    }

    /// The place after so many bytes and elements.
    fn further(&self, from: Pointed, bytes: i64, indices: &[(Operand, u32, i64)]) -> Option<Pointed> {
        let mut to = Pointed { offset: from.offset.checked_add_signed(bytes)?, ..from };
        for (index, _, scale) in indices {
            to = match index {
                Operand::Constant(_, count) => {
                    let bytes = (*count as i64).checked_mul(*scale)?;
                    Pointed { offset: to.offset.checked_add_signed(bytes)?, ..to }
                }
                _ => self.some_element(to, u64::try_from(*scale).ok()?)?,
            };
        }
        Some(to)
    }

    /// Some element of an array of elements of this size: of the array that is there, or of one that starts here.
    fn some_element(&self, place: Pointed, size: u64) -> Option<Pointed> {
        if self.size(place.ty, DEEPEST) == size {
            return Some(place);
        }
        self.inside(place, &|inner| match inner.shape {
            Shape::Array(Some(element), _) if self.size(*element, DEEPEST) == size => Some(*element),
            _ => None,
        })
        .map(|(ty, offset)| Pointed { ty, offset: offset % size.max(1) })
    }

    /// What the pointer points at that lies here.
    fn pointer_at(&self, place: Pointed) -> Option<TypeRef> {
        let found = self.inside(place, &|inner| match inner.shape {
            Shape::Pointer(to) if inner.offset == 0 => *to,
            _ => None,
        });
        found.map(|(to, _)| to)
    }

    /// The static variable at an address.
    fn static_at(&self, address: u64) -> Option<Pointed> {
        let (start, variable) = self.variables.range(..=address).next_back()?;
        let place = Pointed { ty: variable.ty?, offset: address - start };
        (place.offset < self.size(place.ty, DEEPEST)).then_some(place)
    }

    fn pointee(&self, ty: TypeRef) -> Option<TypeRef> {
        self.pointer_at(Pointed { ty, offset: 0 })
    }

    /// Of the types that lie in each other at a place the outermost that is wanted, with what that gives and how far the place is into it.
    pub(super) fn inside<T>(&self, place: Pointed, wanted: &dyn Fn(Inner<'_>) -> Option<T>) -> Option<(T, u64)> {
        self.inside_of(place, wanted, DEEPEST)
    }

    fn inside_of<T>(&self, place: Pointed, wanted: &dyn Fn(Inner<'_>) -> Option<T>, depth: u32) -> Option<(T, u64)> {
        let depth = depth.checked_sub(1)?;
        let Pointed { ty, offset } = place;
        let described = self.types.get(&ty)?;
        let inner = Inner { ty, offset, shape: &described.shape };
        if let Some(found) = wanted(inner) {
            return Some((found, offset));
        }
        match &described.shape {
            Shape::Scalar | Shape::Pointer(_) | Shape::Alias(None) | Shape::Array(None, _) => None,
            Shape::Alias(Some(ty)) => self.inside_of(Pointed { ty: *ty, offset }, wanted, depth),
            Shape::Array(Some(ty), _) => {
                let offset = offset % self.size(*ty, DEEPEST).max(1);
                self.inside_of(Pointed { ty: *ty, offset }, wanted, depth)
            }
            Shape::Record(members) => members.iter().find_map(|member| {
                let ty = member.ty?;
                let offset = offset.checked_sub(member.offset).filter(|into| *into < self.size(ty, DEEPEST))?;
                self.inside_of(Pointed { ty, offset }, wanted, depth)
            }),
        }
    }
}

/// The variable that a function keeps a parameter in: in code that was not optimised debugging information names that alone.
pub(super) fn variable_of_parameter(function: &Function, parameter: usize) -> Option<&str> {
    function.instructions.iter().find_map(|instruction| match instruction.op {
        Op::Store { address: Operand::Local(to), value: Operand::Parameter(from), .. }
            if from as usize == parameter =>
        {
            function.instructions.get(to as usize).map(|slot| &*slot.name).filter(|name| !name.is_empty())
        }
        _ => None,
    })
}

/// A type at a place.
#[derive(Clone, Copy)]
pub(super) struct Inner<'t> {
    pub ty: TypeRef,
    /// How far the place is into it.
    pub offset: u64,
    pub shape: &'t Shape,
}
