//! Inserts the calls of the runtime, as the described instructions say.
//!
//! Hooks perform the accesses that they record, so loads, stores and atomic updates give way to them. Only the results
//! of invokes are recorded in another block than their instruction's: at the start of the one that it returns to, which
//! has no other way in, since critical edges were split.

mod words;

use crate::legalize_i128::ATOMIC16_SITE;
use crate::llvm::{Block, Builder, Context, Layout, Module, Opcode, Type, TypeKind, Value};
use crate::shape::{self, scalar_bits};
use crate::sidecar::{self, Instruction, Op};
use crate::undefined;
use foretrace_runtime::library::{By, Format, Function};
use foretrace_runtime::record::Kind;
use std::collections::{HashMap, HashSet};

/// LLVM's number of the predicate for equality.
const EQUAL: u32 = 32;
/// Parameters that the record of an entry holds.
const ENTRY_PARAMETERS: usize = 4;
/// Arguments that the hook has which performs functions of the C library.
const PERFORMED: usize = 5;
/// Those of the hooks that note what these read and wrote.
const NOTED: usize = 6;

/// Inserts hooks into the functions of a unit.
pub struct Hooks<'a> {
    module: &'a Module<'a>,
    context: &'a Context,
    builder: Builder,
    layout: Layout,
    unit: u32,
    word: Type,
    declared: HashMap<String, (Type, Value)>,
    /// Memory of the frame through which values of a type go that are accessed in pieces.
    scratch: HashMap<Type, Value>,
    /// Instructions that hooks took the place of.
    replaced: Vec<Value>,
    /// Sites of accesses that may be left out.
    computable: HashSet<u32>,
}

impl<'a> Hooks<'a> {
    /// For the unit of this number; accesses at the sites given may be left out of the log.
    pub fn new(module: &'a Module<'a>, unit: u32, computable: HashSet<u32>) -> Hooks<'a> {
        let context = module.context();
        Hooks {
            module,
            context,
            builder: Builder::new(context),
            layout: module.layout(),
            unit,
            word: context.int(64),
            declared: HashMap::new(),
            scratch: HashMap::new(),
            replaced: Vec::new(),
            computable,
        }
    }

    /// Inserts the hooks of one function.
    pub fn insert(&mut self, function: Value, described: &sidecar::Function) {
        self.scratch.clear();
        let blocks = function.blocks();
        let instructions = blocks.iter().zip(&described.blocks).flat_map(|(block, described)| {
            block.instructions().into_iter().zip(described.first..).zip(&described.instructions)
        });
        let instructions: Vec<((Value, u32), &Instruction)> = instructions.collect();
        // First those at starts of blocks: what is inserted later goes between them and the instruction it belongs to.
        for ((value, site), instruction) in &instructions {
            self.result_of_invoke(*value, *site, &instruction.op);
        }
        for ((value, site), instruction) in &instructions {
            self.instruction(*value, *site, &instruction.op);
        }
        self.entry(function, blocks[0], described.site);
        for replaced in self.replaced.drain(..) {
            replaced.erase();
        }
    }

    fn instruction(&mut self, value: Value, site: u32, op: &Op) {
        match op {
            Op::Alloca { size, escapes: true, .. } => self.alloca(value, *size, site),
            Op::Load { hooked: true, size, .. } => self.load(value, *size, site),
            Op::Load { hooked: false, .. } => undefined::decide_load(&self.builder, value),
            Op::Store { hooked: true, size, .. } => self.store(value, *size, site),
            Op::Wide { pieces, .. } => self.wide(value, pieces, site),
            Op::Update { size, by, .. } => self.update(value, *size, *by as u64, site),
            Op::CompareAndSwap { size, .. } => self.compare_and_swap(value, *size, site),
            Op::Pair { .. } => value.set_operand(ATOMIC16_SITE, self.site(site)),
            Op::Copy { hooked: true, .. } => self.copy(value, site),
            Op::Set { hooked: true, .. } => self.set(value, site),
            Op::Branch { recorded: true, .. } => self.branch(value, site),
            Op::Switch { recorded: true, .. } => self.switch(value, site),
            Op::Indirect { .. } => self.indirect(value, site),
            Op::Call { result: true, unwinds: None, .. } => self.result_of_call(value, site),
            Op::Library { name, unwinds, .. } => self.library(value, name, unwinds.is_some(), site),
            Op::Intrinsic { name, .. } if name.starts_with("llvm.va_start") => self.arguments_start(value, site),
            Op::Intrinsic { .. } | Op::Opaque { recorded: true, .. } => self.value(value, site),
            Op::Landing => {
                self.after(value);
                self.hook("landing", &[], site);
            }
            _ => {}
        }
    }
}

/// Memory.
impl Hooks<'_> {
    fn alloca(&mut self, value: Value, size: u64, site: u32) {
        self.after(value);
        let count = self.widen(value.operand(0));
        let size = self.builder.binary(Opcode::Mul, count, self.word.constant(size));
        self.hook("alloca", &[value, size], site);
    }

    fn load(&mut self, value: Value, size: u64, site: u32) {
        self.builder.before(value);
        let (name, place) = self.access("load", size, site, Kind::load(size));
        let word = self.call(name, &[value.operand(0), place], self.word);
        let loaded = self.narrow(word, value.ty());
        self.put_in_place(value, loaded);
    }

    fn store(&mut self, value: Value, size: u64, site: u32) {
        self.builder.before(value);
        let word = self.widen(value.operand(0));
        let (name, place) = self.access("store", size, site, Kind::store(size));
        self.call(name, &[value.operand(1), word, place], self.context.void());
        self.replaced.push(value);
    }

    /// An access in pieces. One that is atomic stays as it is, and what it leaves behind is read after it.
    fn wide(&mut self, value: Value, pieces: &[(u64, u8)], site: u32) {
        if matches!(value.opcode(), Opcode::AtomicRMW | Opcode::AtomicCmpXchg) || value.is_atomic() {
            self.after(value);
            let address = value.operand(if value.opcode() == Opcode::Store { 1 } else { 0 });
            for (offset, size) in pieces {
                self.load_piece(address, *offset, *size, site);
            }
        } else if value.opcode() == Opcode::Load {
            self.wide_load(value, pieces, site);
        } else {
            self.wide_store(value, pieces, site);
        }
    }

    fn wide_load(&mut self, value: Value, pieces: &[(u64, u8)], site: u32) {
        let scratch = self.scratch(value.ty(), value);
        self.builder.before(value);
        for (offset, size) in pieces {
            let piece = self.load_piece(value.operand(0), *offset, *size, site);
            let piece = self.narrow(piece, self.context.int(u32::from(*size) * 8));
            self.builder.store(piece, self.address(scratch, *offset)).set_alignment(1);
        }
        let loaded = self.builder.load(value.ty(), scratch);
        self.put_in_place(value, loaded);
    }

    fn wide_store(&mut self, value: Value, pieces: &[(u64, u8)], site: u32) {
        let (stored, address) = (value.operand(0), value.operand(1));
        let scratch = self.scratch(stored.ty(), value);
        self.builder.before(value);
        self.builder.store(stored, scratch);
        for (offset, size) in pieces {
            let piece = self.builder.load(self.context.int(u32::from(*size) * 8), self.address(scratch, *offset));
            piece.set_alignment(1);
            let word = self.widen(piece);
            let to = self.address(address, *offset);
            self.hook(&format!("store{size}"), &[to, word], site);
        }
        self.replaced.push(value);
    }

    fn load_piece(&mut self, address: Value, offset: u64, size: u8, site: u32) -> Value {
        let from = self.address(address, offset);
        self.returning_hook(&format!("load{size}"), &[from], site)
    }

    /// Memory at the start of the function that `user` is in.
    fn scratch(&mut self, ty: Type, user: Value) -> Value {
        if let Some(known) = self.scratch.get(&ty) {
            return *known;
        }
        self.builder.before(user.function_entry());
        let made = self.builder.alloca(ty);
        self.scratch.insert(ty, made);
        made
    }

    fn update(&mut self, value: Value, size: u64, by: u64, site: u32) {
        self.builder.before(value);
        let operand = self.widen(value.operand(1));
        let arguments = [value.operand(0), operand, self.word.constant(by)];
        let word = self.returning_hook(&format!("update{size}"), &arguments, site);
        let old = self.narrow(word, value.ty());
        self.put_in_place(value, old);
    }

    fn compare_and_swap(&mut self, value: Value, size: u64, site: u32) {
        self.builder.before(value);
        let (expected, desired) = (self.widen(value.operand(1)), self.widen(value.operand(2)));
        let word = self.returning_hook(&format!("cas{size}"), &[value.operand(0), expected, desired], site);
        let succeeded = self.builder.compare(EQUAL, word, expected);
        let old = self.narrow(word, value.operand(1).ty());
        let pair = self.builder.insert(value.ty().poison(), old, 0);
        let pair = self.builder.insert(pair, succeeded, 1);
        self.put_in_place(value, pair);
    }

    fn copy(&mut self, value: Value, site: u32) {
        self.builder.before(value);
        let length = self.widen(value.operand(2));
        self.hook("copy", &[value.operand(0), value.operand(1), length], site);
        self.replaced.push(value);
    }

    fn set(&mut self, value: Value, site: u32) {
        self.builder.before(value);
        let (byte, length) = (self.widen(value.operand(1)), self.widen(value.operand(2)));
        self.hook("set", &[value.operand(0), byte, length], site);
        self.replaced.push(value);
    }

    fn address(&self, base: Value, offset: u64) -> Value {
        if offset == 0 {
            return base;
        }
        self.builder.offset(self.context.int(8), base, self.word.constant(offset))
    }

    fn put_in_place(&mut self, old: Value, new: Value) {
        old.replace_with(new);
        self.replaced.push(old);
    }
}

/// Functions of the C library.
impl Hooks<'_> {
    fn library(&mut self, value: Value, name: &str, unwinds: bool, site: u32) {
        let Some(function) = Function::named(name) else { return };
        if function.reads_too() {
            self.reads(value, function, site);
        }
        match function.format() {
            Some((Format::Printed, format)) => self.printed(value, format, site),
            Some((Format::PrintedList, format)) => {
                self.builder.before(value);
                let arguments = self.words(value, format + 2);
                self.hook("printed_list", &arguments[format..], site);
            }
            Some((Format::Scanned, _)) | None => {}
        }
        match function.by() {
            By::Runtime => self.performed(value, function, site),
            By::ReadsFirst => {
                self.reads(value, function, site);
                if !unwinds {
                    self.result_of_call(value, site);
                }
            }
            By::WritesLast if unwinds => {} // see `result_of_invoke`
            By::WritesLast => {
                self.after(value);
                self.wrote(value, function, site);
                self.result(value, site);
            }
        }
    }

    fn performed(&mut self, value: Value, function: Function, site: u32) {
        self.builder.before(value);
        let arguments = self.words(value, PERFORMED);
        let arguments = [&[self.word.constant(function as u64)], &arguments[..]].concat();
        let word = self.returning_hook("library", &arguments, site);
        if scalar_bits(value.ty()) == 0 {
            self.hook("result", &[self.word.constant(0)], site);
            return self.replaced.push(value);
        }
        let result = self.narrow(word, value.ty());
        let word = self.widen(result);
        self.hook("result", &[word], site);
        self.put_in_place(value, result);
    }

    /// Notes what a call is about to read.
    fn reads(&mut self, call: Value, function: Function, site: u32) {
        self.builder.before(call);
        let arguments = self.words(call, NOTED);
        self.hook("reads", &[&[self.word.constant(function as u64)], &arguments[..]].concat(), site);
    }

    /// Notes the texts that a call is about to print. The argument before a text may be its length.
    fn printed(&mut self, call: Value, format: usize, site: u32) {
        self.builder.before(call);
        let arguments = self.words(call, call.arguments().len());
        for at in variable_pointers(call, format) {
            let index = self.word.constant((at - format - 1) as u64);
            self.hook("printed", &[arguments[format], index, arguments[at], arguments[at - 1]], site);
        }
    }

    /// Notes what a call has written, here.
    fn wrote(&mut self, value: Value, function: Function, site: u32) {
        let result = if scalar_bits(value.ty()) > 0 { self.widen(value) } else { self.word.constant(0) };
        if let Some((Format::Scanned, format)) = function.format() {
            let arguments = self.words(value, value.arguments().len());
            for at in variable_pointers(value, format) {
                let index = self.word.constant((at - format - 1) as u64);
                self.hook("scanned", &[result, arguments[format], index, arguments[at]], site);
            }
            return;
        }
        let arguments = self.words(value, NOTED);
        self.hook("wrote", &[&[self.word.constant(function as u64), result], &arguments[..]].concat(), site);
    }

    /// So many arguments of a call as words, zeros for those that it has not.
    fn words(&self, call: Value, count: usize) -> Vec<Value> {
        let given = call.arguments();
        let word = |index: usize| match given.get(index) {
            Some(argument) if scalar_bits(argument.ty()) > 0 => self.widen(*argument),
            _ => self.word.constant(0),
        };
        (0..count).map(word).collect()
    }
}

/// Control and values.
impl Hooks<'_> {
    /// The entry of a function, before anything else in it.
    fn entry(&mut self, function: Value, block: Block, site: u32) {
        let Some(first) = block.first() else { return };
        self.builder.before(first);
        let scalars = function.parameters().into_iter().filter(|parameter| scalar_bits(parameter.ty()) > 0);
        let words: Vec<Value> = scalars.map(|parameter| self.widen(parameter)).collect();
        let (first, rest) = words.split_at(words.len().min(ENTRY_PARAMETERS));
        let arguments: Vec<Value> = [self.site(site)].into_iter().chain(first.iter().copied()).collect();
        self.call(hook_name(&format!("enter{}", first.len())), &arguments, self.context.void());
        for word in rest {
            self.hook("argument", &[*word], site);
        }
    }

    fn branch(&mut self, value: Value, site: u32) {
        self.builder.before(value);
        let condition = self.widen(value.operand(0));
        self.hook("branch", &[condition], site);
    }

    fn switch(&mut self, value: Value, site: u32) {
        self.builder.before(value);
        let chosen = self.widen(value.operand(0));
        self.hook("switch", &[chosen], site);
    }

    /// A computed goto: the position of the block whose address it is.
    fn indirect(&mut self, value: Value, site: u32) {
        self.builder.before(value);
        let target = value.operand(0);
        let mut position = self.word.constant(0);
        for (block, index) in value.successors().into_iter().zip(0..).skip(1) {
            let address = block.address();
            let is_it = self.builder.compare(EQUAL, target, address);
            position = self.builder.select(is_it, self.word.constant(index), position);
        }
        self.hook("switch", &[position], site);
    }

    fn result_of_invoke(&mut self, value: Value, site: u32, op: &Op) {
        let (Op::Call { result: true, unwinds: Some(_), .. } | Op::Library { unwinds: Some(_), .. }) = op else {
            return;
        };
        let Some(&normal) = value.successors().first() else { return };
        let Some(place) = normal.instructions().into_iter().find(|first| first.opcode() != Opcode::Phi) else { return };
        self.builder.before(place);
        if let Op::Library { name, .. } = op
            && let Some(function) = Function::named(name).filter(|function| function.by() == By::WritesLast)
        {
            self.wrote(value, function, site);
        }
        self.result(value, site);
    }

    fn result_of_call(&mut self, value: Value, site: u32) {
        self.after(value);
        self.result(value, site);
    }

    /// What a call gave, here.
    fn result(&mut self, value: Value, site: u32) {
        let word = if scalar_bits(value.ty()) > 0 { self.widen(value) } else { self.word.constant(0) };
        self.hook("result", &[word], site);
        if shape::is_aggregate(value.ty()) {
            self.parts(value, site);
        }
    }

    /// The value of an instruction, if it is a scalar.
    fn value(&mut self, value: Value, site: u32) {
        if scalar_bits(value.ty()) > 0 {
            self.after(value);
            let word = self.widen(value);
            self.hook("value", &[word], site);
        }
    }

    /// Where a function finds those of its variable arguments that came in registers.
    fn arguments_start(&mut self, value: Value, site: u32) {
        const SAVED_REGISTERS: u64 = 16;
        self.after(value);
        let saved = self.builder.load(self.word, self.address(value.operand(0), SAVED_REGISTERS));
        self.hook("value", &[saved], site);
    }

    fn parts(&mut self, value: Value, site: u32) {
        for leaf in shape::leaves(value.ty(), self.layout) {
            if scalar_bits(leaf.ty) > 0 {
                let part = leaf.path.iter().fold(value, |whole, index| self.builder.extract(whole, *index));
                let word = self.widen(part);
                self.hook("value", &[word], site);
            }
        }
    }

    /// Goes behind an instruction that does not end its block.
    fn after(&self, value: Value) {
        if let Some(next) = value.next() {
            self.builder.before(next);
        }
    }
}

/// The positions of pointers among the variable arguments of a call, which come after its format.
fn variable_pointers(call: Value, format: usize) -> Vec<usize> {
    let arguments = call.arguments();
    (format + 1..arguments.len()).filter(|at| arguments[*at].ty().kind() == TypeKind::Pointer).collect()
}

fn hook_name(name: &str) -> String {
    format!("__foretrace_{name}")
}
