//! Assembly that is one atomic operation on one piece of memory becomes that operation, which is recorded like any other.
//!
//! Known are a `mov` between a register and memory, `xchg`, and with `lock` `xadd`, `inc`, `dec`, `add`, `sub`, `and`, `or`, `xor`, `not` and
//! `cmpxchg`, also with a `setz` or `setnz` after it, or with that flag as an output. [`crate::simple_assembly::operands`] reads the text.

mod intel;
mod operands;

use crate::llvm::{Builder, Module, Opcode, Type, TypeKind, Value, ValueKind};
use crate::shape::scalar_bits;
use operands::{ADD, AND, Action, EXCHANGE, Flag, Input, OR, SUB, Simple, XOR, parse};

/// LLVM's number of the predicate for equality.
const EQUAL: u32 = 32;

/// Puts operations in the places of such assembly.
pub fn replace(module: &Module, functions: &[Value]) {
    let builder = Builder::new(module.context());
    for call in functions.iter().flat_map(|function| function.blocks()).flat_map(|block| block.instructions()) {
        if call.opcode() == Opcode::Call
            && let assembly = call.callee()
            && assembly.kind() == ValueKind::InlineAsm
            && let Some(simple) = parse(&assembly.assembly(), &assembly.constraints(), assembly.is_intel_assembly())
        {
            Call { module, builder: &builder, call, arguments: call.arguments() }.put(&simple);
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
        let is_byte = |slot: usize| slots.get(slot).is_some_and(|ty| scalar_bits(*ty) == 8);
        let flag_fits = match simple.zero {
            Some(Flag { slot: Some(slot), whole: false, .. }) => is_byte(slot),
            _ => true,
        };
        if !flag_fits || !fit {
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

fn bits(ty: Type) -> u32 {
    if ty.kind() == TypeKind::Pointer { 64 } else { scalar_bits(ty) }
}
