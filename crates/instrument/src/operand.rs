//! Operands of instructions, as the side-car has them.

use crate::llvm::{Context, Layout, Linkage, Opcode, Type, Value, ValueKind};
use crate::shape::{self, Address};
use crate::sidecar::{self, Operand};
use std::collections::HashMap;

/// Constants with more parts than this are not described.
const MOST_PARTS: usize = 4096;

/// What operands refer to in a function.
pub struct Operands<'a> {
    /// Owns the types.
    pub context: &'a Context,
    /// Sizes and offsets.
    pub layout: Layout,
    /// Sites of the function's instructions.
    pub sites: HashMap<Value, u32>,
    /// Positions of its parameters.
    pub parameters: HashMap<Value, u32>,
}

impl Operands<'_> {
    /// An operand.
    pub fn describe(&self, value: Value) -> Operand {
        match value.kind() {
            ValueKind::Instruction => self.sites.get(&value).map_or(Operand::Opaque, |site| Operand::Local(*site)),
            ValueKind::Argument => {
                self.parameters.get(&value).map_or(Operand::Opaque, |index| Operand::Parameter(*index))
            }
            ValueKind::Undef | ValueKind::Poison => Operand::Undefined,
            ValueKind::Function | ValueKind::Alias | ValueKind::IFunc | ValueKind::Global => symbol(value),
            ValueKind::Zero => zero(&shape::describe(value.ty())),
            ValueKind::Struct | ValueKind::Array | ValueKind::DataArray => self.aggregate(value),
            _ => self.scalar(value),
        }
    }

    /// The operands of an instruction, all of them.
    pub fn all(&self, values: &[Value]) -> Vec<Operand> {
        values.iter().map(|value| self.describe(*value)).collect()
    }

    fn scalar(&self, value: Value) -> Operand {
        let bits = shape::scalar_bits(value.ty());
        match value.kind() {
            _ if bits == 0 => Operand::Opaque,
            ValueKind::Null => Operand::Constant(64, 0),
            ValueKind::Int => Operand::Constant(bits, value.unsigned()),
            ValueKind::Float => self.float(value, bits),
            ValueKind::Expression => self.expression(value),
            _ => Operand::Opaque,
        }
    }

    fn float(&self, value: Value, bits: u32) -> Operand {
        let as_bits = value.constant_as(self.context.int(bits));
        match as_bits.kind() {
            ValueKind::Int => Operand::Float(bits, as_bits.unsigned()),
            _ => Operand::Opaque,
        }
    }

    /// A constant expression: an address with an offset, or nothing that is described.
    fn expression(&self, value: Value) -> Operand {
        match value.constant_opcode() {
            Opcode::GetElementPtr => {
                let address = Address::of_element(value, self.layout);
                if !address.indices.is_empty() {
                    return Operand::Opaque;
                }
                further(self.describe(address.base), address.offset)
            }
            Opcode::PtrToInt | Opcode::PtrToAddr | Opcode::IntToPtr | Opcode::BitCast
                if shape::scalar_bits(value.operand(0).ty()) == shape::scalar_bits(value.ty()) =>
            {
                self.describe(value.operand(0))
            }
            _ => Operand::Opaque,
        }
    }

    fn aggregate(&self, value: Value) -> Operand {
        let length = parts(value.ty());
        if length > MOST_PARTS {
            return Operand::Opaque;
        }
        let part = |index| value.element(index).map_or(Operand::Opaque, |part| self.describe(part));
        Operand::Aggregate((0..).take(length).map(part).collect())
    }
}

/// How many parts an aggregate type has.
fn parts(ty: Type) -> usize {
    match shape::describe(ty) {
        sidecar::Type::Aggregate(parts) => parts.len(),
        _ => usize::MAX,
    }
}

/// The address of something with a symbol. What has none, or another address in each thread, is not described.
fn symbol(value: Value) -> Operand {
    if value.is_thread_local() || value.linkage() == Linkage::Private {
        return Operand::Opaque;
    }
    Operand::Address(symbol_name(value), 0)
}

/// The symbol of a function or global as it stands in the object.
pub fn symbol_name(value: Value) -> String {
    let name = value.name();
    name.strip_prefix('\u{1}').map(str::to_owned).unwrap_or(name)
}

/// So many bytes beyond an address.
fn further(base: Operand, bytes: i64) -> Operand {
    match base {
        Operand::Address(name, offset) => Operand::Address(name, offset.wrapping_add(bytes)),
        Operand::Constant(64, value) => Operand::Constant(64, value.wrapping_add_signed(bytes)),
        _ => Operand::Opaque,
    }
}

/// A constant of zeros.
fn zero(ty: &sidecar::Type) -> Operand {
    match ty {
        sidecar::Type::Aggregate(parts) if parts.len() <= MOST_PARTS => {
            Operand::Aggregate(parts.iter().map(zero).collect())
        }
        scalar if scalar.bits() > 0 => Operand::Constant(scalar.bits(), 0),
        _ => Operand::Opaque,
    }
}
