//! Integers of 128 bits as two halves of 64, so that records hold them and the tools can compute them.
//!
//! Atomic accesses of such integers become calls of the hook that performs them. Their values, and the results of common operations on
//! them, become pairs of words. Where other code needs the whole integer, it is put together.

use crate::llvm::{Builder, Module, Opcode, Type, TypeKind, Value, ValueKind};
use crate::parts::same_access;
use crate::sidecar::Atomic16Op;
use std::collections::{HashMap, HashSet};

/// The hook for atomic accesses of 16 bytes: `(what, address, four words, site)`, to what was there.
pub const ATOMIC16_HOOK: &str = "__foretrace_pair";
/// Which of its arguments is the site.
pub const ATOMIC16_SITE: u32 = 6;

const BITS: u32 = 128;
const HALF_BITS: u64 = 64;
const HALF_BYTES: u64 = 8;

/// LLVM's numbers of comparisons.
const EQUAL: u32 = 32;
const UNEQUAL: u32 = 33;
const BELOW: u32 = 36;

type Halves = [Value; 2];

/// Takes the integers of a function apart.
pub fn halve(module: &Module, function: Value) {
    let instructions: Vec<Value> = function.blocks().into_iter().flat_map(|block| block.instructions()).collect();
    if !instructions.iter().any(|instruction| is_about_wide(*instruction)) {
        return;
    }
    let context = module.context();
    let mut halving = Halving {
        module,
        builder: Builder::new(context),
        word: context.int(64),
        wide: context.int(BITS),
        known: HashMap::new(),
        swapped: HashMap::new(),
        phis: Vec::new(),
        made: Vec::new(),
    };
    for instruction in instructions {
        halving.instruction(instruction);
    }
    halving.finish();
}

fn is_wide(ty: Type) -> bool {
    ty.kind() == TypeKind::Integer && ty.int_bits() == BITS
}

fn is_about_wide(instruction: Value) -> bool {
    is_wide(instruction.ty()) || instruction.operands().into_iter().any(|operand| is_wide(operand.ty()))
}

/// What takes the place of an instruction.
enum Instead {
    /// An integer in halves.
    Halves(Halves),
    /// Another value.
    Value(Value),
    /// Nothing: it had none.
    Nothing,
}

struct Halving<'a> {
    module: &'a Module<'a>,
    builder: Builder,
    word: Type,
    wide: Type,
    /// The halves of integers that were put together again.
    known: HashMap<Value, Halves>,
    /// What compare-and-swaps found, and whether they succeeded.
    swapped: HashMap<Value, [Value; 2]>,
    /// Phis, each with those of the halves.
    phis: Vec<(Value, Halves)>,
    /// Instructions that are perhaps not needed.
    made: Vec<Value>,
}

impl Halving<'_> {
    fn instruction(&mut self, instruction: Value) {
        self.builder.before(instruction);
        let Some(instead) = self.instead(instruction) else { return };
        match instead {
            Instead::Halves(legalize_i128) => {
                let whole = self.join(legalize_i128);
                instruction.replace_with(whole);
            }
            Instead::Value(value) => instruction.replace_with(value),
            Instead::Nothing => {}
        }
        instruction.erase();
    }

    fn instead(&mut self, instruction: Value) -> Option<Instead> {
        let operand = |index| instruction.operand(index);
        match instruction.opcode() {
            Opcode::Load | Opcode::Store | Opcode::AtomicRMW | Opcode::AtomicCmpXchg => self.access(instruction),
            Opcode::Phi if is_wide(instruction.ty()) => {
                self.phi(instruction);
                None
            }
            Opcode::ExtractValue => {
                let parts = self.swapped.get(&operand(0))?;
                Some(Instead::Value(parts[*instruction.path().first()? as usize]))
            }
            Opcode::Trunc if is_wide(operand(0).ty()) && instruction.ty().int_bits() <= 64 => {
                let [low, _] = self.legalize_i128(operand(0));
                let narrow = instruction.ty();
                let is_half = narrow.int_bits() == 64;
                Some(Instead::Value(if is_half { low } else { self.builder.cast(Opcode::Trunc, low, narrow) }))
            }
            Opcode::ICmp if is_wide(operand(0).ty()) => self.compared(instruction),
            _ if is_wide(instruction.ty()) => self.computed(instruction).map(Instead::Halves),
            _ => None,
        }
    }

    /// The halves of an integer.
    fn legalize_i128(&self, value: Value) -> Halves {
        if let Some(legalize_i128) = self.known.get(&value) {
            return *legalize_i128;
        }
        let upper = self.builder.binary(Opcode::LShr, value, self.wide.constant(HALF_BITS));
        [value, upper].map(|part| self.builder.cast(Opcode::Trunc, part, self.word))
    }

    /// An integer of these halves.
    fn join(&mut self, [low, high]: Halves) -> Value {
        let build = &self.builder;
        let [lower, upper] = [low, high].map(|half| build.cast(Opcode::ZExt, half, self.wide));
        let shifted = build.binary(Opcode::Shl, upper, self.wide.constant(HALF_BITS));
        let whole = build.binary(Opcode::Or, shifted, lower);
        self.made.extend([lower, upper, shifted, whole]);
        self.known.insert(whole, [low, high]);
        whole
    }

    /// Completes the phis, and removes what is not needed.
    fn finish(mut self) {
        for (phi, legalize_i128) in std::mem::take(&mut self.phis) {
            for (block, value) in phi.incoming() {
                if let Some(last) = block.instructions().last() {
                    self.builder.before(*last);
                }
                for (half, part) in legalize_i128.into_iter().zip(self.legalize_i128(value)) {
                    half.add_incoming(block, part);
                }
            }
            self.made.push(phi);
        }
        self.remove_unused();
    }

    /// Removes what only other unneeded instructions need; phis of whole integers may need each other.
    fn remove_unused(self) {
        let made: Vec<Value> = self.made.into_iter().filter(|made| made.kind() == ValueKind::Instruction).collect();
        let mut unused: HashSet<Value> = made.iter().copied().collect();
        let needed_by_others = |one: &Value| one.users().iter().any(|user| !unused.contains(user));
        let mut needed: Vec<Value> = made.iter().copied().filter(needed_by_others).collect();
        while let Some(one) = needed.pop() {
            if unused.remove(&one) {
                needed.extend(one.operands().into_iter().filter(|operand| unused.contains(operand)));
            }
        }
        let unused = || made.iter().filter(|one| unused.contains(one));
        unused().for_each(|one| one.replace_with(one.ty().poison()));
        unused().for_each(|one| one.erase());
    }
}

/// Memory.
impl Halving<'_> {
    fn access(&mut self, access: Value) -> Option<Instead> {
        let address = access.operand(if access.opcode() == Opcode::Store { 1 } else { 0 });
        let ty = match access.opcode() {
            Opcode::Load => access.ty(),
            Opcode::Store => access.operand(0).ty(),
            _ => access.operand(1).ty(),
        };
        if !is_wide(ty) || !address.ty().is_plain_pointer() {
            return None;
        }
        match access.opcode() {
            Opcode::Load if access.is_atomic() => Some(Instead::Halves(self.pair(Atomic16Op::Load, address, &[]))),
            Opcode::Load => Some(Instead::Halves(self.load(access, address))),
            Opcode::Store => {
                let stored = self.legalize_i128(access.operand(0));
                match access.is_atomic() {
                    true => _ = self.pair(Atomic16Op::Store, address, &stored),
                    false => self.store(access, address, stored),
                }
                Some(Instead::Nothing)
            }
            Opcode::AtomicRMW => {
                let by = Atomic16Op::update(access.update_operation())?;
                let operand = self.legalize_i128(access.operand(1));
                Some(Instead::Halves(self.pair(by, address, &operand)))
            }
            _ => Some(Instead::Value(self.compare_and_swap(access, address))),
        }
    }

    fn load(&self, access: Value, address: Value) -> Halves {
        [0, HALF_BYTES].map(|offset| {
            let half = self.builder.load(self.word, self.address(address, offset));
            same_access(access, half, offset);
            half
        })
    }

    fn store(&self, access: Value, address: Value, legalize_i128: Halves) {
        for (half, offset) in legalize_i128.into_iter().zip([0, HALF_BYTES]) {
            same_access(access, self.builder.store(half, self.address(address, offset)), offset);
        }
    }

    fn compare_and_swap(&mut self, access: Value, address: Value) -> Value {
        let (expected, desired) = (self.legalize_i128(access.operand(1)), self.legalize_i128(access.operand(2)));
        let found = self.pair(Atomic16Op::CompareAndSwap, address, &[expected, desired].concat());
        let succeeded = self.all(EQUAL, found, expected);
        let whole = self.join(found);
        let half = self.builder.insert(access.ty().poison(), whole, 0);
        let both = self.builder.insert(half, succeeded, 1);
        self.made.extend([half, both]);
        self.swapped.insert(both, [whole, succeeded]);
        both
    }

    /// Calls the hook; its site comes later.
    fn pair(&self, by: Atomic16Op, address: Value, words: &[Value]) -> Halves {
        let (context, zero) = (self.module.context(), self.word.constant(0));
        let mut arguments = vec![self.word.constant(by.code()), address];
        arguments.extend(words);
        arguments.resize(ATOMIC16_SITE as usize + 1, zero);
        let types: Vec<Type> = arguments.iter().map(|argument| argument.ty()).collect();
        let ty = context.function(&types, context.pair(self.word));
        let hook = self.module.function(ATOMIC16_HOOK).unwrap_or_else(|| self.module.declare(ATOMIC16_HOOK, ty));
        self.module.add_attribute(hook, "nounwind");
        let found = self.builder.call(ty, hook, &arguments);
        [0, 1].map(|index| self.builder.extract(found, index))
    }

    fn address(&self, base: Value, offset: u64) -> Value {
        if offset == 0 {
            return base;
        }
        self.builder.offset(self.module.context().int(8), base, self.word.constant(offset))
    }
}

/// Values.
impl Halving<'_> {
    fn computed(&self, instruction: Value) -> Option<Halves> {
        let operand = |index| instruction.operand(index);
        let both = |by: Opcode| {
            let ([a, c], [b, d]) = (self.legalize_i128(operand(0)), self.legalize_i128(operand(1)));
            [self.builder.binary(by, a, b), self.builder.binary(by, c, d)]
        };
        Some(match instruction.opcode() {
            by @ (Opcode::And | Opcode::Or | Opcode::Xor) => both(by),
            by @ (Opcode::Add | Opcode::Sub) => self.sum(by, operand(0), operand(1)),
            Opcode::ZExt if operand(0).ty().int_bits() <= 64 => {
                let narrow = operand(0);
                let is_half = narrow.ty().int_bits() == 64;
                let low = if is_half { narrow } else { self.builder.cast(Opcode::ZExt, narrow, self.word) };
                [low, self.word.constant(0)]
            }
            by @ (Opcode::Shl | Opcode::LShr) if operand(1).kind() == ValueKind::Int => {
                self.shifted(by, operand(0), operand(1).unsigned())?
            }
            Opcode::Select if operand(0).ty().kind() == TypeKind::Integer => {
                let (yes, no) = (self.legalize_i128(operand(1)), self.legalize_i128(operand(2)));
                [0, 1].map(|half| self.builder.select(operand(0), yes[half], no[half]))
            }
            _ => return None,
        })
    }

    /// A sum or a difference.
    fn sum(&self, by: Opcode, a: Value, b: Value) -> Halves {
        let (a, b) = (self.legalize_i128(a), self.legalize_i128(b));
        let low = self.builder.binary(by, a[0], b[0]);
        let (less, than) = if by == Opcode::Add { (low, a[0]) } else { (a[0], b[0]) };
        let carry = self.builder.cast(Opcode::ZExt, self.builder.compare(BELOW, less, than), self.word);
        let high = self.builder.binary(by, a[1], b[1]);
        [low, self.builder.binary(by, high, carry)]
    }

    /// By so many bits, which is known.
    fn shifted(&self, by: Opcode, value: Value, bits: u64) -> Option<Halves> {
        let [low, high] = self.legalize_i128(value);
        let left = by == Opcode::Shl;
        let back = if left { Opcode::LShr } else { Opcode::Shl };
        // What is shifted in from the other half.
        let (from, to) = if left { (low, high) } else { (high, low) };
        let shift = |by, value, bits| match bits {
            0 => value,
            _ => self.builder.binary(by, value, self.word.constant(bits)),
        };
        let (from, to) = match bits {
            0 => (from, to),
            1..HALF_BITS => {
                let over = shift(back, from, HALF_BITS - bits);
                (shift(by, from, bits), self.builder.binary(Opcode::Or, shift(by, to, bits), over))
            }
            HALF_BITS..128 => (self.word.constant(0), shift(by, from, bits - HALF_BITS)),
            _ => return None,
        };
        Some(if left { [from, to] } else { [to, from] })
    }

    fn compared(&self, comparison: Value) -> Option<Instead> {
        let predicate = comparison.predicate();
        let (a, b) = (self.legalize_i128(comparison.operand(0)), self.legalize_i128(comparison.operand(1)));
        matches!(predicate, EQUAL | UNEQUAL).then(|| Instead::Value(self.all(predicate, a, b)))
    }

    /// Whether both halves are equal, or not both.
    fn all(&self, predicate: u32, a: Halves, b: Halves) -> Value {
        let by = if predicate == EQUAL { Opcode::And } else { Opcode::Or };
        let [low, high] = [0, 1].map(|half| self.builder.compare(predicate, a[half], b[half]));
        self.builder.binary(by, low, high)
    }

    /// The phis of both halves; what comes in is known in the end.
    fn phi(&mut self, phi: Value) {
        let legalize_i128 = [self.builder.phi(self.word), self.builder.phi(self.word)];
        self.known.insert(phi, legalize_i128);
        self.phis.push((phi, legalize_i128));
    }
}
