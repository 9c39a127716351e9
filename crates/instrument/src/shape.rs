//! How values lie in memory: scalars and what consists of them, pieces of accesses, address arithmetic.

use crate::llvm::{Layout, Opcode, Type, TypeKind, Value, ValueKind};
use crate::sidecar;

/// The type as the side-car has it.
pub fn describe(ty: Type) -> sidecar::Type {
    match ty.kind() {
        TypeKind::Void => sidecar::Type::Void,
        TypeKind::Integer if ty.int_bits() <= 64 => sidecar::Type::Int(ty.int_bits()),
        TypeKind::Pointer if ty.is_plain_pointer() => sidecar::Type::Pointer,
        TypeKind::Half | TypeKind::BFloat => sidecar::Type::Float(16),
        TypeKind::Float => sidecar::Type::Float(32),
        TypeKind::Double => sidecar::Type::Float(64),
        TypeKind::Struct => sidecar::Type::Aggregate(ty.fields().into_iter().map(describe).collect()),
        TypeKind::Array => {
            let length = usize::try_from(ty.array_length()).unwrap_or(0);
            sidecar::Type::Aggregate(vec![describe(ty.element()); length])
        }
        _ => sidecar::Type::Other,
    }
}

/// Bits of a scalar, what hooks record; 0 for anything else.
pub fn scalar_bits(ty: Type) -> u32 {
    match ty.kind() {
        TypeKind::Integer if ty.int_bits() <= 64 => ty.int_bits(),
        TypeKind::Pointer if ty.is_plain_pointer() => 64,
        TypeKind::Half | TypeKind::BFloat => 16,
        TypeKind::Float => 32,
        TypeKind::Double => 64,
        _ => 0,
    }
}

/// Whether it is a struct or an array.
pub fn is_aggregate(ty: Type) -> bool {
    matches!(ty.kind(), TypeKind::Struct | TypeKind::Array)
}

/// A part of an aggregate that is none itself.
pub struct Leaf {
    /// The index at each level.
    pub path: Vec<u32>,
    /// Where it lies, in bytes.
    pub offset: u64,
    /// What it is.
    pub ty: Type,
}

/// All leaves of a type, in order; of anything but an aggregate the type itself.
pub fn leaves(ty: Type, layout: Layout) -> Vec<Leaf> {
    let mut found = Vec::new();
    collect_leaves(ty, layout, &mut Vec::new(), 0, &mut found);
    found
}

fn collect_leaves(ty: Type, layout: Layout, path: &mut Vec<u32>, offset: u64, found: &mut Vec<Leaf>) {
    if !is_aggregate(ty) {
        found.push(Leaf { path: path.clone(), offset, ty });
        return;
    }
    let parts: Vec<(Type, u64)> = if ty.kind() == TypeKind::Struct {
        ty.fields().into_iter().zip(0..).map(|(field, index)| (field, layout.offset(ty, index))).collect()
    } else {
        (0..ty.array_length()).map(|index| (ty.element(), index * layout.size(ty.element()))).collect()
    };
    for ((part, start), index) in parts.into_iter().zip(0..) {
        path.push(index);
        collect_leaves(part, layout, path, offset + start, found);
        path.pop();
    }
}

/// An access of so many bytes in the sizes of hooks: offsets and sizes.
pub fn pieces(size: u64) -> Vec<(u64, u8)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < size {
        let piece = [8u8, 4, 2, 1].into_iter().find(|piece| u64::from(*piece) <= size - at).unwrap_or(1);
        found.push((at, piece));
        at += u64::from(piece);
    }
    found
}

/// Whether one hook can perform an access of so many bytes.
pub fn is_hook_size(size: u64) -> bool {
    matches!(size, 1 | 2 | 4 | 8)
}

/// Address arithmetic: `base + offset + Σ index·scale`.
pub struct Address {
    /// What it starts from.
    pub base: Value,
    /// Bytes that are known.
    pub offset: i64,
    /// Indices that are not, with their scales.
    pub indices: Vec<(Value, i64)>,
}

impl Address {
    /// What a getelementptr, instruction or constant, computes.
    pub fn of_element(gep: Value, layout: Layout) -> Address {
        let mut address = Address { base: gep.operand(0), offset: 0, indices: Vec::new() };
        let mut ty = gep.element_type();
        for position in 1..gep.operand_count() {
            let index = gep.operand(position);
            if position > 1 && ty.kind() == TypeKind::Struct {
                let field = u32::try_from(index.unsigned()).unwrap_or(0);
                address.offset = address.offset.wrapping_add_unsigned(layout.offset(ty, field));
                ty = ty.field(field);
                continue;
            }
            if position > 1 {
                ty = ty.element();
            }
            address.add(index, layout.size(ty).cast_signed());
        }
        address
    }

    fn add(&mut self, index: Value, scale: i64) {
        match index.kind() {
            ValueKind::Int => self.offset = self.offset.wrapping_add(index.signed().wrapping_mul(scale)),
            _ => self.indices.push((index, scale)),
        }
    }
}

/// Whether an instruction is a getelementptr of one address, not of a vector of them.
pub fn is_plain_gep(value: Value) -> bool {
    value.kind() == ValueKind::Instruction
        && value.opcode() == Opcode::GetElementPtr
        && value.ty().is_plain_pointer()
        && value.operands().iter().all(|operand| scalar_bits(operand.ty()) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_every_byte_once() {
        for size in 0..70 {
            let mut next = 0;
            for (offset, length) in pieces(size) {
                assert_eq!(offset, next);
                assert!(is_hook_size(length.into()));
                next += u64::from(length);
            }
            assert_eq!(next, size);
        }
    }
}
