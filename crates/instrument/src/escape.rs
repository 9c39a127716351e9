//! Which memory of the frame is seen by its own function alone, through accesses whose bytes are known: those need no
//! hooks.

use crate::intrinsics::{self, Intrinsic};
use crate::llvm::{Layout, Opcode, Value, ValueKind};
use crate::shape::{Address, is_plain_gep};
use std::collections::HashSet;

/// The allocas of a function that never escape.
pub struct Private {
    allocas: HashSet<Value>,
    layout: Layout,
}

impl Private {
    /// Looks at every use of every alloca.
    pub fn in_function(function: Value, layout: Layout) -> Private {
        let instructions = function.blocks().into_iter().flat_map(|block| block.instructions());
        let allocas: HashSet<Value> = instructions.filter(|value| value.opcode() == Opcode::Alloca).collect();
        let mut private = Private { allocas, layout };
        // One that is copied to or from another needs the other to be private too.
        loop {
            let kept: HashSet<Value> =
                private.allocas.iter().copied().filter(|alloca| private.keeps(*alloca)).collect();
            if kept.len() == private.allocas.len() {
                return private;
            }
            private.allocas = kept;
        }
    }

    /// Whether the alloca, or the one that the address points into, never escapes.
    pub fn holds(&self, address: Value) -> bool {
        self.place(address).is_some()
    }

    /// The alloca that an address certainly points into, if it never escapes, and how far.
    fn place(&self, address: Value) -> Option<(Value, i64)> {
        let (mut base, mut offset) = (address, 0i64);
        while is_plain_gep(base) {
            let step = Address::of_element(base, self.layout);
            if !step.indices.is_empty() {
                return None;
            }
            base = step.base;
            offset = offset.wrapping_add(step.offset);
        }
        self.allocas.contains(&base).then_some((base, offset))
    }

    fn keeps(&self, alloca: Value) -> bool {
        let count = alloca.operand(0);
        if count.kind() != ValueKind::Int {
            return false;
        }
        let Some(size) = self.layout.size(alloca.allocated_type()).checked_mul(count.unsigned()) else { return false };
        self.uses_are_harmless(alloca, size)
    }

    /// Whether every use of this pointer into an alloca of so many bytes reads or writes known bytes of it.
    fn uses_are_harmless(&self, pointer: Value, size: u64) -> bool {
        pointer.users().into_iter().all(|user| {
            if user.kind() != ValueKind::Instruction {
                return false;
            }
            match user.opcode() {
                Opcode::Load => self.fits(pointer, self.layout.stored_size(user.ty()), size) && !wide_atomic(user),
                Opcode::Store => {
                    let value = user.operand(0);
                    value != pointer
                        && self.fits(pointer, self.layout.stored_size(value.ty()), size)
                        && !wide_atomic(user)
                }
                Opcode::GetElementPtr => {
                    is_plain_gep(user)
                        && Address::of_element(user, self.layout).indices.is_empty()
                        && self.uses_are_harmless(user, size)
                }
                Opcode::Call => self.call_is_harmless(user, pointer, size),
                _ => false,
            }
        })
    }

    fn call_is_harmless(&self, call: Value, pointer: Value, size: u64) -> bool {
        let Some(name) = intrinsics::name_of_call(call) else { return false };
        let length = |call: Value| {
            call.operand(2).kind() == ValueKind::Int && self.fits(pointer, call.operand(2).unsigned(), size)
        };
        match intrinsics::classify(&name) {
            Intrinsic::Nothing => name.starts_with("llvm.lifetime."),
            Intrinsic::Copy => length(call) && self.holds(call.operand(0)) && self.holds(call.operand(1)),
            Intrinsic::Set => length(call),
            _ => false,
        }
    }

    /// Whether that many bytes at the pointer lie in its alloca of `size` bytes.
    fn fits(&self, pointer: Value, bytes: u64, size: u64) -> bool {
        let Some((_, offset)) = self.place(pointer) else { return false };
        u64::try_from(offset).is_ok_and(|offset| offset.checked_add(bytes).is_some_and(|end| end <= size))
    }
}

/// Whether an access is atomic and of more bytes than hooks have: it is kept as it is.
fn wide_atomic(access: Value) -> bool {
    access.is_atomic() && {
        let value = if access.opcode() == Opcode::Load { access } else { access.operand(0) };
        crate::shape::scalar_bits(value.ty()) == 0
    }
}
