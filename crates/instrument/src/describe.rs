//! The side-car of a function: each instruction of the canonical module, in numbered order.
//!
//! What is decided here decides what the hooks are: `hooks.rs` goes by the described instructions alone.

use crate::calls::Calls;
use crate::escape::Private;
use crate::intrinsics;
use crate::llvm::{Block, Context, Layout, Opcode, Type, Value, ValueKind};
use crate::operand::{Operands, symbol_name};
use crate::rust::rust_name;
use crate::shape::{self, Address, is_hook_size, is_plain_gep, scalar_bits};
use crate::sidecar::{
    self, BinaryOp, BlockId, CastOp, Function, Instruction, Op, Parameter, Predicate, UPDATES, UpdateOp,
};
use crate::source::{Sources, names_of_values};
use std::collections::HashMap;

/// Describes the functions of a module.
pub struct Describer<'a> {
    pub(crate) sources: Sources<'a>,
    pub(crate) calls: Calls,
    pub(crate) layout: Layout,
}

/// A function while it is described.
pub(crate) struct Scope<'a> {
    pub(crate) operands: Operands<'a>,
    pub(crate) calls: &'a Calls,
    private: Private,
    blocks: HashMap<Block, BlockId>,
}

impl Describer<'_> {
    /// A function whose entry has this site.
    pub fn function(&mut self, context: &Context, function: Value, site: u32) -> Function {
        let names = names_of_values(context, function);
        let (location, name) = self.sources.function(function);
        let symbol = symbol_name(function);
        let scope = Scope::of_function(context, &self.calls, self.layout, function, site);
        let mut first = site + 1;
        let mut blocks = Vec::new();
        for block in function.blocks() {
            let values = block.instructions();
            let instructions = values.iter().map(|value| Instruction {
                location: self.sources.position(*value),
                name: names.get(value).cloned().unwrap_or_default(),
                ty: shape::describe(value.ty()),
                op: scope.op(*value),
            });
            let instructions: Vec<Instruction> = instructions.collect();
            let next = first + u32::try_from(instructions.len()).unwrap_or(0);
            blocks.push(sidecar::Block { first, instructions });
            first = next;
        }
        Function {
            site,
            name: if name.is_empty() { rust_name(&symbol).unwrap_or_else(|| symbol.clone()) } else { name },
            symbol,
            location,
            parameters: self.parameters(function, &names),
            returns: shape::describe(function.function_type().returned()),
            variadic: function.function_type().is_variadic(),
            blocks,
        }
    }

    fn parameters(&self, function: Value, names: &HashMap<Value, String>) -> Vec<Parameter> {
        let describe = |(value, index): (Value, u32)| Parameter {
            ty: shape::describe(value.ty()),
            name: names.get(&value).cloned().unwrap_or_else(|| value.name()),
            by_value: function.parameter_type_attribute(index, "byval").map(|ty| self.layout.size(ty)),
        };
        function.parameters().into_iter().zip(0..).map(describe).collect()
    }
}

impl<'a> Scope<'a> {
    fn of_function(context: &'a Context, calls: &'a Calls, layout: Layout, function: Value, site: u32) -> Scope<'a> {
        let instructions = function.blocks().into_iter().flat_map(|block| block.instructions());
        let operands = Operands {
            context,
            layout,
            sites: instructions.zip(site + 1..).collect(),
            parameters: function.parameters().into_iter().zip(0..).collect(),
        };
        let blocks = function.blocks().into_iter().zip(0..).collect();
        Scope { operands, calls, private: Private::in_function(function, layout), blocks }
    }
}

impl Scope<'_> {
    /// What an instruction does.
    fn op(&self, value: Value) -> Op {
        let described = match value.opcode() {
            Opcode::Alloca | Opcode::Load | Opcode::Store | Opcode::AtomicRMW | Opcode::AtomicCmpXchg => {
                self.memory(value)
            }
            Opcode::Call | Opcode::Invoke => Some(self.call(value)),
            Opcode::Fence => Some(Op::Nothing),
            _ => self.control(value).or_else(|| self.computation(value)),
        };
        described.unwrap_or_else(|| self.opaque(value))
    }

    /// An instruction that is not described.
    fn opaque(&self, value: Value) -> Op {
        Op::Opaque {
            what: format!("{:?}", value.opcode()).to_lowercase(),
            operands: self.operands.all(&value.operands()),
            recorded: scalar_bits(value.ty()) > 0,
        }
    }

    fn operand(&self, value: Value, index: u32) -> sidecar::Operand {
        self.operands.describe(value.operand(index))
    }

    pub(crate) fn block(&self, block: Block) -> BlockId {
        self.blocks.get(&block).copied().unwrap_or(BlockId::MAX)
    }

    /// Whether accesses to this address need no hooks.
    pub(crate) fn is_private(&self, address: Value) -> bool {
        self.private.holds(address)
    }
}

/// Memory.
impl Scope<'_> {
    fn memory(&self, value: Value) -> Option<Op> {
        match value.opcode() {
            Opcode::Alloca => Some(Op::Alloca {
                size: self.operands.layout.size(value.allocated_type()),
                count: self.operand(value, 0),
                escapes: !self.is_private(value),
            }),
            Opcode::Load => self.access(value, value.ty(), value.operand(0), None),
            Opcode::Store => self.access(value, value.operand(0).ty(), value.operand(1), Some(value.operand(0))),
            Opcode::AtomicRMW => self.update(value),
            _ => self.compare_and_swap(value),
        }
    }

    /// A load or store of a value of this type.
    fn access(&self, access: Value, ty: Type, address: Value, stored: Option<Value>) -> Option<Op> {
        if !address.ty().is_plain_pointer() {
            return None; // relative to a segment register
        }
        let size = self.operands.layout.stored_size(ty);
        let atomic = access.is_atomic();
        let hooked = !self.is_private(address);
        let value = stored.map(|value| self.operands.describe(value));
        let address = self.operands.describe(address);
        if hooked && !(is_hook_size(size) && scalar_bits(ty) > 0) {
            let value = value.filter(|_| !atomic);
            return Some(Op::Wide { address, value, pieces: shape::pieces(size) });
        }
        Some(match value {
            None => Op::Load { address, size, hooked, atomic },
            Some(value) => Op::Store { address, value, size, hooked, atomic },
        })
    }

    fn update(&self, value: Value) -> Option<Op> {
        let (address, ty) = (value.operand(0), value.operand(1).ty());
        let size = self.operands.layout.stored_size(ty);
        if !address.ty().is_plain_pointer() {
            return None;
        }
        let by = update_op(value.update_operation()).filter(|_| is_hook_size(size) && scalar_bits(ty) > 0);
        let address = self.operands.describe(address);
        let Some(by) = by else {
            return Some(Op::Wide { address, value: None, pieces: shape::pieces(size) });
        };
        Some(Op::Update { address, operand: self.operand(value, 1), size, by })
    }

    fn compare_and_swap(&self, value: Value) -> Option<Op> {
        let (address, ty) = (value.operand(0), value.operand(1).ty());
        let size = self.operands.layout.stored_size(ty);
        if !address.ty().is_plain_pointer() {
            return None;
        }
        let address = self.operands.describe(address);
        if !is_hook_size(size) || scalar_bits(ty) == 0 {
            return Some(Op::Wide { address, value: None, pieces: shape::pieces(size) });
        }
        let (expected, desired) = (self.operand(value, 1), self.operand(value, 2));
        Some(Op::CompareAndSwap { address, expected, desired, size })
    }
}

/// Where control goes.
impl Scope<'_> {
    fn control(&self, value: Value) -> Option<Op> {
        let to = |index: usize| self.block(value.successors()[index]);
        Some(match value.opcode() {
            Opcode::Br if value.successors().len() == 2 => {
                Op::Branch { condition: self.operand(value, 0), yes: to(0), no: to(1), recorded: true }
            }
            Opcode::Br => Op::Jump(to(0)),
            Opcode::Switch => self.switch(value),
            Opcode::IndirectBr => {
                let to = value.successors().into_iter().map(|block| self.block(block)).collect();
                Op::Indirect { address: self.operand(value, 0), to }
            }
            Opcode::LandingPad => Op::Landing,
            Opcode::Resume => Op::Resume,
            Opcode::Ret => Op::Return(value.operands().first().map(|value| self.operands.describe(*value))),
            Opcode::Unreachable => Op::Unreachable,
            Opcode::Phi => {
                let one = |(block, value)| (self.block(block), self.operands.describe(value));
                Op::Phi(value.incoming().into_iter().map(one).collect())
            }
            _ => return None,
        })
    }

    fn switch(&self, value: Value) -> Op {
        let successors = value.successors();
        let cases = successors.iter().zip(0..).skip(1);
        Op::Switch {
            value: self.operand(value, 0),
            bits: scalar_bits(value.operand(0).ty()),
            cases: cases.map(|(block, index)| (value.case(index).unsigned(), self.block(*block))).collect(),
            otherwise: self.block(successors[0]),
            recorded: true,
        }
    }
}

/// What is computed from values alone.
impl Scope<'_> {
    fn computation(&self, value: Value) -> Option<Op> {
        match value.opcode() {
            Opcode::ExtractValue => self.extract(value),
            Opcode::InsertValue => {
                Some(Op::Insert { into: self.operand(value, 0), value: self.operand(value, 1), path: value.path() })
            }
            Opcode::GetElementPtr => self.offset(value),
            Opcode::ICmp => self.compare(value),
            Opcode::Select => self.select(value),
            Opcode::Freeze if shape::is_aggregate(value.ty()) => None,
            _ if scalar_bits(value.ty()) == 0 => None,
            opcode => match binary_op(opcode) {
                Some(by) => Some(Op::Binary { by, left: self.operand(value, 0), right: self.operand(value, 1) }),
                None => self.cast(value),
            },
        }
    }

    /// A part of an aggregate, if the aggregate is tracked.
    fn extract(&self, value: Value) -> Option<Op> {
        let from = value.operand(0);
        is_tracked(from, 0).then(|| Op::Extract { from: self.operands.describe(from), path: value.path() })
    }

    fn select(&self, value: Value) -> Option<Op> {
        let described = |index| self.operand(value, index);
        let bit = scalar_bits(value.operand(0).ty()) == 1;
        bit.then(|| Op::Select { condition: described(0), yes: described(1), no: described(2) })
    }

    fn compare(&self, value: Value) -> Option<Op> {
        let bits = scalar_bits(value.operand(0).ty());
        let by = predicate(value.predicate()).filter(|_| bits > 0)?;
        Some(Op::Compare { by, bits, left: self.operand(value, 0), right: self.operand(value, 1) })
    }

    fn cast(&self, value: Value) -> Option<Op> {
        let before = value.operands().first().map_or(0, |operand| scalar_bits(operand.ty()));
        let after = scalar_bits(value.ty());
        let by = match value.opcode() {
            _ if before == 0 => return None,
            Opcode::Trunc => CastOp::Trunc,
            Opcode::ZExt => CastOp::ZExt,
            Opcode::SExt => CastOp::SExt,
            Opcode::BitCast | Opcode::Freeze | Opcode::PtrToInt | Opcode::PtrToAddr | Opcode::IntToPtr => {
                match before.cmp(&after) {
                    std::cmp::Ordering::Less => CastOp::ZExt,
                    std::cmp::Ordering::Equal => CastOp::Move,
                    std::cmp::Ordering::Greater => CastOp::Trunc,
                }
            }
            _ => return None,
        };
        Some(Op::Cast { by, bits: before, value: self.operand(value, 0) })
    }

    fn offset(&self, value: Value) -> Option<Op> {
        if !is_plain_gep(value) {
            return None;
        }
        let address = Address::of_element(value, self.operands.layout);
        let index = |(index, scale): &(Value, i64)| (self.operands.describe(*index), scalar_bits(index.ty()), *scale);
        Some(Op::Offset {
            base: self.operands.describe(address.base),
            offset: address.offset,
            indices: address.indices.iter().map(index).collect(),
        })
    }
}

/// Whether the walker knows the scalars of an aggregate: all but those of landing pads, of parameters, of accesses that
/// are kept as they are, and of what is not described.
fn is_tracked(aggregate: Value, depth: u32) -> bool {
    if aggregate.kind() != ValueKind::Instruction {
        return aggregate.kind() != ValueKind::Argument; // only scalars are recorded at entry
    }
    if depth > 8 {
        return false;
    }
    match aggregate.opcode() {
        Opcode::Call | Opcode::Invoke => is_call_tracked(aggregate),
        Opcode::AtomicCmpXchg => scalar_bits(aggregate.operand(1).ty()) > 0,
        Opcode::ExtractValue => is_tracked(aggregate.operand(0), depth + 1),
        Opcode::InsertValue => is_tracked(aggregate.operand(0), depth + 1) && is_part_tracked(aggregate, depth),
        Opcode::Phi => aggregate.incoming().into_iter().all(|(_, value)| is_tracked(value, depth + 1)),
        Opcode::Select => is_tracked(aggregate.operand(1), depth + 1) && is_tracked(aggregate.operand(2), depth + 1),
        _ => false,
    }
}

/// The scalars of what a call gives are recorded; those of an intrinsic are not, and can be computed for arithmetic
/// that tells of an overflow.
fn is_call_tracked(call: Value) -> bool {
    intrinsics::name_of_call(call).is_none_or(|name| {
        call.opcode() == Opcode::Invoke || name.contains(".with.overflow.") && scalar_bits(call.operand(0).ty()) > 0
    })
}

/// Of an insertvalue: whether what is inserted is a scalar or tracked.
fn is_part_tracked(insert: Value, depth: u32) -> bool {
    let part = insert.operand(1);
    !shape::is_aggregate(part.ty()) || is_tracked(part, depth + 1)
}

fn binary_op(opcode: Opcode) -> Option<BinaryOp> {
    Some(match opcode {
        Opcode::Add => BinaryOp::Add,
        Opcode::Sub => BinaryOp::Sub,
        Opcode::Mul => BinaryOp::Mul,
        Opcode::UDiv => BinaryOp::UDiv,
        Opcode::SDiv => BinaryOp::SDiv,
        Opcode::URem => BinaryOp::URem,
        Opcode::SRem => BinaryOp::SRem,
        Opcode::Shl => BinaryOp::Shl,
        Opcode::LShr => BinaryOp::LShr,
        Opcode::AShr => BinaryOp::AShr,
        Opcode::And => BinaryOp::And,
        Opcode::Or => BinaryOp::Or,
        Opcode::Xor => BinaryOp::Xor,
        _ => return None,
    })
}

/// LLVM numbers its integer predicates from 32 in this order.
fn predicate(code: u32) -> Option<Predicate> {
    use Predicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
    [Eq, Ne, Ugt, Uge, Ult, Ule, Sgt, Sge, Slt, Sle].get(code.checked_sub(32)? as usize).copied()
}

/// LLVM numbers its atomic updates in the order of `UpdateOp`.
fn update_op(code: u32) -> Option<UpdateOp> {
    UPDATES.get(code as usize).copied()
}

/// Why a function has to be left as it is, if so.
pub fn cannot_describe(function: Value) -> Option<&'static str> {
    let section = function.section();
    if function.has_attribute("naked") {
        return Some("it is naked");
    }
    if section.starts_with(".init") || section.starts_with(".preinit") {
        return Some("it is in a start section");
    }
    let instructions = function.blocks().into_iter().flat_map(|block| block.instructions());
    instructions.into_iter().find_map(|value| match value.opcode() {
        Opcode::CallBr => Some("it jumps out of assembly"),
        Opcode::Unknown | Opcode::CatchSwitch | Opcode::CatchPad | Opcode::CleanupPad => Some("it has unknown code"),
        Opcode::Switch if scalar_bits(value.operand(0).ty()) == 0 => Some("it switches on a wide number"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_llvm_become_operations() {
        assert_eq!(
            (predicate(32), predicate(41), predicate(31), predicate(42)),
            (Some(Predicate::Eq), Some(Predicate::Sle), None, None)
        );
        assert_eq!((update_op(0), update_op(10), update_op(11)), (Some(UpdateOp::Xchg), Some(UpdateOp::UMin), None));
        assert_eq!(UpdateOp::UMin as u32, 10);
    }
}
