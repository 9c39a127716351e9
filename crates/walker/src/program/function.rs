//! A function as the walk needs it.

use super::loops::Loops;
use super::meets::Meets;
use super::position::openmp_name;
use super::{Code, Prepared};
use foretrace_instrument::sidecar::{self, BlockId, Callee, Instruction, LocationId, Op, Operand, Parameter};
use foretrace_runtime::record::Site;
use std::sync::OnceLock;

/// So many blocks are followed at most to where a function is left for good. A call of a library ends a block.
const LONGEST_LEAVING: u32 = 8;

/// An instrumented function.
pub(crate) struct Function {
    pub unit: usize,
    /// Of its entry; lower part. That of an instruction is this plus one plus its index.
    pub site: u32,
    /// The upper part of these.
    pub unit_id: u32,
    pub symbol: String,
    pub name: String,
    pub location: LocationId,
    pub parameters: Vec<Parameter>,
    /// What it returns, as the compiler has it.
    pub returns: sidecar::Type,
    /// The instructions of all blocks, one after the other. In their operands `Local` is an index among them, no site.
    pub instructions: Vec<Instruction>,
    /// Per instruction, whose code it is.
    pub(super) codes: Vec<Code>,
    /// Where each block starts among them.
    pub blocks: Vec<u32>,
    pub address: Option<u64>,
    /// Whether it comes from a file of the system.
    pub is_library: bool,
    /// Whether it is an operation of an atomic that a library offers.
    pub is_atomic: bool,
    /// Whether a `derive` made it: it acts for its caller.
    pub is_derived: bool,
    /// Whether it is the compare-and-swap of a pointer that libstdc++ keeps under a lock: it reads and compares in one step, as an atomic does.
    pub compares_and_swaps: bool,
    /// Whether some instruction uses the value of the one of this index.
    pub used: Vec<bool>,
    prepared: OnceLock<Prepared>,
    loops: OnceLock<Loops>,
    meets: OnceLock<Meets>,
}

impl Function {
    /// The whole site of an instruction.
    #[inline]
    pub fn site_of(&self, instruction: usize) -> Site {
        Site::new(self.unit_id, self.site + 1 + instruction as u32)
    }

    /// The function as it is executed; no symbol in its operands is resolved later.
    #[inline]
    pub fn prepared(&self) -> &Prepared {
        self.prepared.get_or_init(|| Prepared::new(&self.instructions, self.parameters.len(), &self.blocks))
    }

    /// The instructions of a block.
    pub fn instructions_of(&self, block: BlockId) -> &[Instruction] {
        let start = self.blocks.get(block as usize).map_or(0, |start| *start as usize);
        let end = self.blocks.get(block as usize + 1).map_or(self.instructions.len(), |end| *end as usize);
        self.instructions.get(start..end).unwrap_or_default()
    }

    /// What a block ends with.
    pub fn last_of(&self, block: BlockId) -> Option<&Op> {
        let next = self.blocks.get(block as usize + 1);
        let end = next.map_or(self.instructions.len(), |start| *start as usize);
        self.instructions.get(end.checked_sub(1)?).map(|last| &last.op)
    }

    /// Whether nothing comes back from a block, or from what it leads to without a loop: an assertion that fails, a check that a compiler adds, and
    /// what is written before the end.
    pub fn is_left_for_good(&self, block: BlockId) -> bool {
        self.is_left_within(block, LONGEST_LEAVING)
    }

    fn is_left_within(&self, block: BlockId, blocks: u32) -> bool {
        let leaves = |to: BlockId| blocks > 0 && self.is_left_within(to, blocks - 1);
        match self.last_of(block) {
            Some(Op::Unreachable | Op::Resume) => true,
            Some(Op::Call { unwinds: Some((normal, _)), .. } | Op::Library { unwinds: Some((normal, _)), .. }) => {
                leaves(*normal)
            }
            Some(Op::Jump(to)) => leaves(*to),
            Some(Op::Branch { yes, no, .. }) => leaves(*yes) && leaves(*no),
            _ => false,
        }
    }

    /// Where a block can lead to.
    fn after(&self, block: BlockId) -> Vec<BlockId> {
        match self.last_of(block) {
            Some(Op::Branch { yes, no, .. }) => vec![*yes, *no],
            Some(Op::Jump(to)) => vec![*to],
            Some(Op::Switch { cases, otherwise, .. }) => {
                cases.iter().map(|(_, to)| *to).chain(std::iter::once(*otherwise)).collect()
            }
            Some(Op::Indirect { to, .. }) => to.clone(),
            Some(
                Op::Call { unwinds: Some((normal, unwind)), .. } | Op::Library { unwinds: Some((normal, unwind)), .. },
            ) => {
                vec![*normal, *unwind]
            }
            _ => Vec::new(),
        }
    }

    fn successors(&self) -> Vec<Vec<BlockId>> {
        (0..self.blocks.len() as BlockId).map(|block| self.after(block)).collect()
    }

    /// Its loops.
    #[inline]
    pub fn loops(&self) -> &Loops {
        self.loops.get_or_init(|| Loops::new(&self.successors()))
    }

    /// Where the ways from its blocks meet.
    #[inline]
    pub fn meets(&self) -> &Meets {
        self.meets.get_or_init(|| {
            let returns = |block: &BlockId| matches!(self.last_of(*block), Some(Op::Return(_)));
            let returning: Vec<BlockId> = (0..self.blocks.len() as BlockId).filter(returns).collect();
            Meets::new(&self.successors(), &returning)
        })
    }

    /// Whose code an instruction is.
    #[inline]
    pub fn code(&self, instruction: usize) -> Code {
        self.codes.get(instruction).copied().unwrap_or(Code::Own)
    }
}

/// A function of a side-car with its blocks one after the other.
pub(super) fn flatten(function: sidecar::Function, unit: usize, unit_id: u32) -> Function {
    let mut instructions = Vec::new();
    let mut blocks = Vec::new();
    for block in function.blocks {
        blocks.push(instructions.len() as u32);
        instructions.extend(block.instructions);
    }
    let mut flat = Function {
        unit,
        unit_id,
        site: function.site,
        compares_and_swaps: is_compare_and_swap(&function.symbol),
        symbol: function.symbol,
        name: openmp_name(&function.name).unwrap_or(function.name),
        location: function.location,
        parameters: function.parameters,
        returns: function.returns,
        used: vec![false; instructions.len()],
        instructions,
        codes: Vec::new(),
        blocks,
        address: None,
        is_library: false,
        is_atomic: false,
        is_derived: false,
        prepared: OnceLock::new(),
        loops: OnceLock::new(),
        meets: OnceLock::new(),
    };
    let mut used = std::mem::take(&mut flat.used);
    for instruction in &mut flat.instructions {
        for_each_operand(&mut instruction.op, &mut |operand| place(operand, flat.site, &mut used));
    }
    flat.used = used;
    flat
}

/// Whether this is `compare_exchange_strong` of `std::_Sp_atomic`, which a `std::shared_ptr` in `std::atomic` consists of (`code.rs`).
fn is_compare_and_swap(symbol: &str) -> bool {
    symbol.starts_with("_ZNSt10_Sp_atomicI") && symbol.contains("23compare_exchange_strong")
}

/// Replaces sites by indices, and notes which instructions' values are used.
fn place(operand: &mut Operand, entry: u32, used: &mut [bool]) {
    match operand {
        Operand::Local(local) => {
            *local = local.wrapping_sub(entry).wrapping_sub(1);
            if let Some(used) = used.get_mut(*local as usize) {
                *used = true;
            }
        }
        Operand::Aggregate(parts) => parts.iter_mut().for_each(|part| place(part, entry, used)),
        _ => {}
    }
}

/// All operands of an instruction.
pub(crate) fn for_each_operand(op: &mut Op, visit: &mut dyn FnMut(&mut Operand)) {
    match op {
        Op::Alloca { count: one, .. }
        | Op::Load { address: one, .. }
        | Op::Cast { value: one, .. }
        | Op::Extract { from: one, .. }
        | Op::Branch { condition: one, .. }
        | Op::Switch { value: one, .. }
        | Op::Indirect { address: one, .. } => visit(one),
        Op::Store { address: a, value: b, .. }
        | Op::Update { address: a, operand: b, .. }
        | Op::Binary { left: a, right: b, .. }
        | Op::Compare { left: a, right: b, .. }
        | Op::Insert { into: a, value: b, .. } => [a, b].into_iter().for_each(visit),
        Op::CompareAndSwap { address: a, expected: b, desired: c, .. }
        | Op::Copy { to: a, from: b, length: c, .. }
        | Op::Set { to: a, byte: b, length: c, .. }
        | Op::Select { condition: a, yes: b, no: c } => [a, b, c].into_iter().for_each(visit),
        Op::Pair { address, words, .. } => std::iter::once(address).chain(words).for_each(visit),
        Op::Wide { address, value, .. } => std::iter::once(address).chain(value).for_each(visit),
        Op::Offset { base, indices, .. } => {
            visit(base);
            indices.iter_mut().for_each(|(index, _, _)| visit(index));
        }
        Op::Phi(incoming) => incoming.iter_mut().for_each(|(_, value)| visit(value)),
        Op::Call { callee, arguments, .. } => {
            if let Callee::Pointer(pointer) = callee {
                visit(pointer);
            }
            arguments.iter_mut().for_each(visit);
        }
        Op::Intrinsic { arguments, .. } | Op::Library { arguments, .. } => arguments.iter_mut().for_each(visit),
        Op::Opaque { operands, .. } => operands.iter_mut().for_each(visit),
        Op::Return(value) => value.iter_mut().for_each(visit),
        Op::Jump(_) | Op::Landing | Op::Resume | Op::Unreachable | Op::Nothing => {}
    }
}
