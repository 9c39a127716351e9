//! Assembly that is one atomic operation on one piece of memory becomes that operation, which is recorded like any other.
//!
//! Known are a `mov` between a register and memory, `xchg`, and with `lock` `xadd`, `inc`, `dec`, `add`, `sub`, `and`, `or`, `xor`, `not` and
//! `cmpxchg`, also with a `setz` or `setnz` after it, or with that flag as an output. [`crate::simple_assembly::operands`] reads the text.
//! [`crate::simple_assembly::wide`] reads `cmpxchg16b`.

mod intel;
mod operands;
mod wide;

use crate::llvm::{Builder, Module, Opcode, Type, TypeKind, Value, ValueKind};
use crate::shape::scalar_bits;
use operands::{ADD, AND, Action, EXCHANGE, Flag, Input, OR, SUB, Simple, XOR, parse};
use wide::{WideSwap, Word};

/// LLVM's number of the predicate for equality.
const EQUAL: u32 = 32;

/// Puts operations in the places of such assembly.
pub fn replace(module: &Module, functions: &[Value]) {
    let builder = Builder::new(module.context());
    for call in functions.iter().flat_map(|function| function.blocks()).flat_map(|block| block.instructions()) {
        let assembly = call.callee();
        if call.opcode() != Opcode::Call || assembly.kind() != ValueKind::InlineAsm {
            continue;
        }
        let (text, constraints) = (assembly.assembly(), assembly.constraints());
        let is_intel = assembly.is_intel_assembly();
        let place = || Call { module, builder: &builder, call, arguments: call.arguments() };
        if let Some(simple) = parse(&text, &constraints, is_intel) {
            place().put(&simple);
        } else if let Some(swap) = WideSwap::parse(&text, &constraints, is_intel) {
            place().put_wide(&swap);
        }
    }
}

struct Call<'a> {
    module: &'a Module<'a>,
    builder: &'a Builder,
    call: Value,
    arguments: Vec<Value>,
}

impl Call<'_> {
    /// Does nothing if the types are not those that the instruction works on.
    fn put(&self, simple: &Simple) -> Option<()> {
        let address = self.arguments.get(simple.memory).filter(|argument| argument.ty().is_plain_pointer())?;
        let slots = self.slots();
        let size = simple.bits.or_else(|| self.register_bits(simple, &slots))?;
        let word = self.module.context().int(size);
        let is_word = |ty: Type| matches!(ty.kind(), TypeKind::Integer | TypeKind::Pointer);
        let inputs = [simple.operand(), simple.expected()].into_iter().flatten().filter_map(Input::argument);
        // Of a wider register the instruction reads the low part.
        let of_inputs: Vec<Type> =
            inputs.map(|index| self.arguments.get(index).map(|it| it.ty())).collect::<Option<_>>()?;
        let of_old = simple.old.and_then(|slot| slots.get(slot).copied());
        let fit = of_inputs.iter().all(|ty| is_word(*ty) && bits(*ty) >= size)
            && of_old.iter().all(|ty| is_word(*ty) && bits(*ty) == size);
        let types: Vec<Type> = of_inputs.into_iter().chain(of_old).collect();
        if !flag_fits(simple.zero, &slots) || !fit {
            return None;
        }
        // As pointers where all of it is pointers, so that they stay such.
        let moves = !matches!(simple.action, Action::Update(by, _) if by != EXCHANGE);
        let are_pointers = moves && !types.is_empty() && types.iter().all(|ty| ty.kind() == TypeKind::Pointer);
        let ty = if are_pointers { types[0] } else { word };
        self.builder.before(self.call);
        let (old, zero) = self.operation(simple, *address, ty);
        let mut results: Vec<Option<Value>> = vec![None; slots.len()];
        if let (Some(slot), Some(old)) = (simple.old, old) {
            results[slot] = Some(self.cast(old, slots[slot]));
        }
        if let (Some(flag), Some(zero)) = (&simple.zero, zero) {
            self.put_flag(flag, zero, &slots, &mut results);
        }
        self.give(&results);
        Some(())
    }

    /// The flag of zero goes where it is asked for.
    fn put_flag(&self, flag: &Flag, zero: Value, slots: &[Type], results: &mut [Option<Value>]) {
        let is_set = if flag.negated { self.builder.compare(EQUAL, zero, zero.ty().zero()) } else { zero };
        let byte = |ty: Type| self.builder.cast(Opcode::ZExt, is_set, ty);
        match (flag.slot, flag.memory) {
            (Some(slot), _) => results[slot] = Some(byte(slots[slot])),
            (None, Some(argument)) => {
                self.builder.store(byte(self.module.context().int(8)), self.arguments[argument]);
            }
            (None, None) => {}
        }
    }

    /// A compare-and-swap of 16 bytes. Does nothing if the types are not those that the instruction works on.
    fn put_wide(&self, swap: &WideSwap) -> Option<()> {
        const WORD_BITS: u32 = 64;
        let (context, slots) = (self.module.context(), self.slots());
        let (word, wide, byte) = (context.int(WORD_BITS), context.int(2 * WORD_BITS), context.int(8));
        let is_word = |ty: Type| matches!(ty.kind(), TypeKind::Integer | TypeKind::Pointer) && bits(ty) == WORD_BITS;
        let argument = |index: usize| self.arguments.get(index).copied();
        let is_pointer = |index: usize| argument(index).is_some_and(|it| it.ty().is_plain_pointer());
        let words = || swap.expected.into_iter().chain(swap.desired);
        let fits = |input: Word| match input {
            Word::Argument(index) => argument(index).is_some_and(|it| is_word(it.ty())),
            Word::Memory { pointer, .. } => is_pointer(pointer),
        };
        let old_fits = swap.old.into_iter().flatten().all(|slot| slots.get(slot).is_some_and(|ty| is_word(*ty)));
        if !is_pointer(swap.memory) || !words().all(fits) || !old_fits || !flag_fits(swap.zero, &slots) {
            return None;
        }
        let builder = self.builder;
        builder.before(self.call);
        let value = |input: Word| match input {
            Word::Argument(index) => self.cast(self.arguments[index], word),
            Word::Memory { pointer, offset } => {
                let base = self.arguments[pointer];
                let at = if offset == 0 { base } else { builder.offset(byte, base, word.constant(offset)) };
                builder.load(word, at)
            }
        };
        let by = builder.cast(Opcode::ZExt, word.constant(WORD_BITS.into()), wide);
        let both = |[low, high]: [Word; 2]| {
            let [low, high] = [value(low), value(high)].map(|half| builder.cast(Opcode::ZExt, half, wide));
            builder.binary(Opcode::Or, builder.binary(Opcode::Shl, high, by), low)
        };
        let (expected, desired) = (both(swap.expected), both(swap.desired));
        let found = builder.compare_and_swap(self.arguments[swap.memory], expected, desired);
        let whole = builder.extract(found, 0);
        let halves = [whole, builder.binary(Opcode::LShr, whole, by)];
        let mut results: Vec<Option<Value>> = vec![None; slots.len()];
        for (slot, half) in swap.old.into_iter().zip(halves) {
            if let Some(slot) = slot {
                results[slot] = Some(self.cast(builder.cast(Opcode::Trunc, half, word), slots[slot]));
            }
        }
        if let Some(flag) = &swap.zero {
            self.put_flag(flag, builder.extract(found, 1), &slots, &mut results);
        }
        self.give(&results);
        Some(())
    }

    /// The size of the register that the instruction names, which is that of the value in it.
    fn register_bits(&self, simple: &Simple, slots: &[Type]) -> Option<u32> {
        let ty = match simple.operand() {
            Some(Input::Argument(index)) => self.arguments.get(index)?.ty(),
            Some(Input::Constant(_)) => return None,
            None => *slots.get(simple.old?)?,
        };
        Some(bits(ty)).filter(|bits| [8, 16, 32, 64].contains(bits))
    }

    /// The value before, and whether the flag of zero is set.
    fn operation(&self, simple: &Simple, address: Value, ty: Type) -> (Option<Value>, Option<Value>) {
        let builder = self.builder;
        match simple.action {
            Action::Load => (Some(builder.atomic_load(ty, address)), None),
            Action::Store(input) => {
                builder.atomic_store(self.input(input, ty), address);
                (None, None)
            }
            Action::Update(by, input) => {
                let operand = self.input(input, ty);
                let old = builder.update(by, address, operand);
                let after = |opcode| builder.compare(EQUAL, builder.binary(opcode, old, operand), ty.zero());
                let opcode = match by {
                    ADD => Some(Opcode::Add),
                    SUB => Some(Opcode::Sub),
                    AND => Some(Opcode::And),
                    OR => Some(Opcode::Or),
                    XOR => Some(Opcode::Xor),
                    _ => None,
                };
                (Some(old), opcode.filter(|_| simple.zero.is_some()).map(after))
            }
            Action::CompareAndSwap { expected, desired } => {
                let both = builder.compare_and_swap(address, self.input(expected, ty), self.input(desired, ty));
                (Some(builder.extract(both, 0)), simple.zero.is_some().then(|| builder.extract(both, 1)))
            }
        }
    }

    fn input(&self, input: Input, ty: Type) -> Value {
        match input {
            Input::Argument(index) => self.cast(self.arguments[index], ty),
            Input::Constant(value) => ty.constant(value),
        }
    }

    fn cast(&self, value: Value, ty: Type) -> Value {
        match (value.ty().kind(), ty.kind()) {
            (TypeKind::Pointer, TypeKind::Integer) => self.builder.cast(Opcode::PtrToInt, value, ty),
            (TypeKind::Integer, TypeKind::Pointer) => self.builder.cast(Opcode::IntToPtr, value, ty),
            _ if bits(value.ty()) > bits(ty) => self.builder.cast(Opcode::Trunc, value, ty),
            _ => value,
        }
    }

    /// The types of the outputs that are no memory.
    fn slots(&self) -> Vec<Type> {
        match self.call.ty().kind() {
            TypeKind::Void => Vec::new(),
            TypeKind::Struct => self.call.ty().fields(),
            _ => vec![self.call.ty()],
        }
    }

    fn give(&self, results: &[Option<Value>]) {
        let ty = self.call.ty();
        match (ty.kind(), results) {
            (TypeKind::Void, _) => {}
            (TypeKind::Struct, _) => {
                let filled = results.iter().zip(0..).fold(ty.poison(), |whole, (result, index)| match result {
                    Some(value) => self.builder.insert(whole, *value, index),
                    None => whole,
                });
                self.call.replace_with(filled);
            }
            (_, [Some(value)]) => self.call.replace_with(*value),
            _ => self.call.replace_with(ty.poison()),
        }
        self.call.erase();
    }
}

/// Whether a flag that an instruction puts into a byte has an output of a byte.
fn flag_fits(flag: Option<Flag>, slots: &[Type]) -> bool {
    match flag {
        Some(Flag { slot: Some(slot), whole: false, .. }) => slots.get(slot).is_some_and(|ty| scalar_bits(*ty) == 8),
        _ => true,
    }
}

fn bits(ty: Type) -> u32 {
    if ty.kind() == TypeKind::Pointer { 64 } else { scalar_bits(ty) }
}
