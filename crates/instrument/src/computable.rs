//! Accesses whose address, and whose value if they write, the walker can compute from what it knows anyway: these may
//! be left out of the log. Branches whose condition it can compute have no record at all.
//!
//! The walker knows every scalar that has a record, what accesses read, and what follows from those. It does not know
//! constants that are not described, addresses of other units' symbols, memory of the frame that has no hooks, and what
//! silent calls return that does not know it either. All that follows from these is found here, over the described
//! instructions of a unit.

use crate::sidecar::{Callee, Function, Instruction, Op, Operand, Unit};
use std::collections::{HashMap, HashSet};

/// The sites of these accesses; branches are marked. `definite` says whether the walker finds the address of a symbol.
pub fn computable(unit: &mut Unit, definite: &dyn Fn(&str) -> bool) -> HashSet<u32> {
    let (sites, branches) = find(unit, definite);
    for block in unit.functions.iter_mut().flat_map(|function| &mut function.blocks) {
        for (site, instruction) in (block.first..).zip(&mut block.instructions) {
            if let Op::Branch { recorded, .. } | Op::Switch { recorded, .. } = &mut instruction.op {
                *recorded = !branches.contains(&site);
            }
        }
    }
    sites
}

/// The sites of accesses and of branches.
fn find(unit: &Unit, definite: &dyn Fn(&str) -> bool) -> (HashSet<u32>, HashSet<u32>) {
    let mut knowledge = Knowledge { definite, unknown: HashSet::new(), returns: HashMap::new() };
    for function in &unit.functions {
        knowledge.returns.entry(&function.symbol).or_insert(true);
    }
    while unit.functions.iter().filter(|function| knowledge.learn(function)).count() > 0 {}
    let all = || unit.functions.iter().flat_map(sites);
    let accesses = all().filter(|(_, instruction)| knowledge.is_computable(&instruction.op));
    let branches = all().filter(|(_, instruction)| match &instruction.op {
        Op::Branch { condition: value, .. } | Op::Switch { value, .. } => knowledge.knows(value),
        _ => false,
    });
    (accesses.map(|(site, _)| site).collect(), branches.map(|(site, _)| site).collect())
}

fn sites(function: &Function) -> impl Iterator<Item = (u32, &Instruction)> {
    let blocks = function.blocks.iter();
    blocks.flat_map(|block| (block.first..).zip(&block.instructions))
}

/// What is known so far; at first everything.
struct Knowledge<'a> {
    definite: &'a dyn Fn(&str) -> bool,
    /// Instructions whose value the walker may not know.
    unknown: HashSet<u32>,
    /// By symbol, whether the walker knows what a function returns.
    returns: HashMap<&'a str, bool>,
}

impl<'a> Knowledge<'a> {
    /// Goes through a function; whether that changed anything.
    fn learn(&mut self, function: &'a Function) -> bool {
        let mut changed = false;
        for (site, instruction) in sites(function) {
            if !self.has_known_value(instruction) && self.unknown.insert(site) {
                changed = true;
            }
            if let Op::Return(Some(value)) = &instruction.op
                && !self.knows(value)
            {
                changed |= self.returns.insert(&function.symbol, false) == Some(true);
            }
        }
        changed
    }

    fn knows(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Local(site) => !self.unknown.contains(site),
            Operand::Constant(bits, _) | Operand::Float(bits, _) => *bits <= 64,
            Operand::Address(symbol, _) => (self.definite)(symbol),
            Operand::Aggregate(parts) => parts.iter().all(|part| self.knows(part)),
            Operand::Parameter(_) => true,
            Operand::Undefined | Operand::Opaque => false,
        }
    }

    /// Whether the value of an instruction is known, if it has one that others use.
    fn has_known_value(&self, instruction: &Instruction) -> bool {
        match &instruction.op {
            Op::Load { hooked, .. } => *hooked,
            Op::Binary { left, right, .. } | Op::Compare { left, right, .. } => self.knows(left) && self.knows(right),
            Op::Cast { value, .. } => self.knows(value),
            Op::Select { condition, yes, no } => self.knows(condition) && self.knows(yes) && self.knows(no),
            Op::Offset { base, indices, .. } => {
                self.knows(base) && indices.iter().all(|(index, bits, _)| *bits <= 64 && self.knows(index))
            }
            Op::Phi(incoming) => incoming.iter().all(|(_, value)| self.knows(value)),
            Op::Extract { from, .. } => self.knows(from),
            Op::Insert { into, value, .. } => self.knows_or_fills(into) && self.knows(value),
            Op::Call { result: true, .. } => true,
            Op::Call { callee: Callee::Symbol(symbol), .. } => self.returns.get(symbol.as_str()) == Some(&true),
            Op::Call { .. } | Op::Wide { .. } | Op::Landing => false,
            Op::Intrinsic { arguments, .. } if instruction.ty.bits() == 0 => {
                arguments.iter().all(|argument| self.knows(argument))
            }
            _ => true, // recorded, or without a value
        }
    }

    /// Of the aggregate that a part is put into: it may start as nothing.
    fn knows_or_fills(&self, aggregate: &Operand) -> bool {
        *aggregate == Operand::Undefined || self.knows(aggregate)
    }

    /// Whether it is an access that may be left out.
    fn is_computable(&self, op: &Op) -> bool {
        match op {
            Op::Load { address, hooked: true, .. } => self.knows(address),
            Op::Store { address, value, hooked: true, .. } => self.knows(address) && self.knows(value),
            Op::Copy { to, from, length, hooked: true } => self.knows(to) && self.knows(from) && self.knows(length),
            Op::Set { to, byte, length, hooked: true } => self.knows(to) && self.knows(byte) && self.knows(length),
            _ => false,
        }
    }
}
