//! Instructions whose results differ from run to run: they read the processor's counters and random numbers. What each gives goes through
//! the runtime, which keeps it, and gives it again in a replay.

use crate::intrinsics;
use crate::llvm::{Builder, Module, Opcode, Type, TypeKind, Value, ValueKind};

/// The runtime's function: `(value, which) -> value`.
const HOOK: &str = "__foretrace_outside";

/// Starts of the names of such intrinsics. Each has its own sequence of values, by its place here.
const INTRINSICS: [&str; 6] = [
    "llvm.readcyclecounter",
    "llvm.readsteadycounter",
    "llvm.x86.rdtsc",
    "llvm.x86.rdpmc",
    "llvm.x86.rdrand.",
    "llvm.x86.rdseed.",
];
/// Such instructions in assembly.
const MNEMONICS: [&str; 4] = ["rdtsc", "rdpmc", "rdrand", "rdseed"];

const WORD_BITS: u32 = 64;
const BIT: u32 = 1;

/// Passes what such instructions of the functions give through the runtime.
pub fn give_to_runtime(module: &Module, functions: &[Value]) {
    let context = module.context();
    let word = context.int(WORD_BITS);
    let hook = context.function(&[word, word], word);
    let feed = Feed { module, builder: Builder::new(context), word, hook };
    for instruction in functions.iter().flat_map(|function| function.blocks()).flat_map(|block| block.instructions()) {
        if let Some(which) = source(instruction) {
            feed.call(instruction, which);
        }
    }
}

/// Which of the sequences an instruction's values belong to.
fn source(instruction: Value) -> Option<u64> {
    if instruction.opcode() != Opcode::Call {
        return None;
    }
    if instruction.callee().kind() == ValueKind::InlineAsm {
        let text = instruction.callee().assembly();
        let found = MNEMONICS.iter().position(|mnemonic| text.contains(mnemonic))?;
        return Some((INTRINSICS.len() + found) as u64);
    }
    let name = intrinsics::name_of_call(instruction)?;
    INTRINSICS.iter().position(|start| name.starts_with(start)).map(|index| index as u64)
}

struct Feed<'a> {
    module: &'a Module<'a>,
    builder: Builder,
    word: Type,
    hook: Type,
}

impl Feed<'_> {
    fn call(&self, call: Value, which: u64) {
        let Some(next) = call.next() else { return };
        let users = call.users();
        self.builder.before(next);
        let ty = call.ty();
        let fed = match ty.kind() {
            TypeKind::Integer => self.integer(call, ty, which),
            TypeKind::Struct => {
                let fields = (0_u32..).zip(ty.fields());
                fields.filter(|(_, field)| field.kind() == TypeKind::Integer).fold(call, |all, (index, field)| {
                    let part = self.builder.extract(call, index);
                    self.builder.insert(all, self.integer(part, field, which), index)
                })
            }
            _ => return,
        };
        for user in users {
            for index in (0..user.operand_count()).filter(|index| user.operand(*index) == call) {
                user.set_operand(index, fed);
            }
        }
    }

    /// An integer as the runtime gives it back. Wider ones than a word, and conditions, stay.
    fn integer(&self, value: Value, ty: Type, which: u64) -> Value {
        let bits = ty.int_bits();
        if bits > WORD_BITS || bits == BIT {
            return value;
        }
        let hook = self.module.function(HOOK).unwrap_or_else(|| self.module.declare(HOOK, self.hook));
        let is_word = bits == WORD_BITS;
        let wide = if is_word { value } else { self.builder.cast(Opcode::ZExt, value, self.word) };
        let fed = self.builder.call(self.hook, hook, &[wide, self.word.constant(which)]);
        if is_word { fed } else { self.builder.cast(Opcode::Trunc, fed, ty) }
    }
}
