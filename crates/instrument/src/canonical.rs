//! Brings a module into the form that the side-car describes, before anything is numbered:
//!
//! - structs and arrays are loaded and stored one scalar at a time,
//! - integers of sizes that no hook has are put together from pieces,
//! - integers of 128 bits are taken apart, and atomic accesses of them become calls of their hook,
//! - atomic updates that no hook has become calls of functions with a loop around a compare-and-swap.
//!
//! The results are ordinary instructions, which are instrumented like any others.

use crate::legalize_i128::halve;
use crate::llvm::{Builder, Layout, Linkage, Module, Opcode, Type, TypeKind, Value, ValueKind};
use crate::parts::same_access;
use crate::shape::{self, is_aggregate, is_hook_size};

/// The last of LLVM's atomic updates that a hook performs.
const LAST_UPDATE_WITH_HOOK: u32 = 10;

/// Brings the functions into form.
pub fn canonicalise(module: &Module, functions: &[Value]) {
    let canonical = Canonical { module, builder: Builder::new(module.context()), layout: module.layout() };
    for function in functions {
        canonical.each(*function, |instruction| canonical.split_aggregate(instruction));
        canonical.each(*function, |instruction| canonical.split_odd_integer(instruction));
        halve(module, *function);
        canonical.each(*function, |instruction| canonical.expand_update(instruction));
    }
}

struct Canonical<'a> {
    module: &'a Module<'a>,
    builder: Builder,
    layout: Layout,
}

impl Canonical<'_> {
    /// Rewrites each instruction for which `rewrite` has something to put in its place.
    fn each(&self, function: Value, rewrite: impl Fn(Value) -> Option<Value>) {
        for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            self.builder.before(instruction);
            if let Some(replacement) = rewrite(instruction) {
                if instruction.opcode() != Opcode::Store {
                    let name = instruction.name();
                    instruction.replace_with(replacement);
                    if replacement.kind() == ValueKind::Instruction && !name.is_empty() {
                        instruction.set_name("");
                        replacement.set_name(&name);
                    }
                }
                instruction.erase();
            }
        }
    }

    /// A load or store of a struct or array; the answer for a store is any value.
    fn split_aggregate(&self, access: Value) -> Option<Value> {
        match access.opcode() {
            Opcode::Load if is_aggregate(access.ty()) => Some(self.load_leaves(access)),
            Opcode::Store if is_aggregate(access.operand(0).ty()) => Some(self.store_leaves(access)),
            _ => None,
        }
    }

    fn load_leaves(&self, access: Value) -> Value {
        let mut aggregate = access.ty().poison();
        for leaf in shape::leaves(access.ty(), self.layout) {
            let part = self.builder.load(leaf.ty, self.address(access.operand(0), leaf.offset));
            same_access(access, part, leaf.offset);
            aggregate = self.insert(aggregate, &leaf.path, part);
        }
        aggregate
    }

    fn store_leaves(&self, access: Value) -> Value {
        let (aggregate, address) = (access.operand(0), access.operand(1));
        for leaf in shape::leaves(aggregate.ty(), self.layout) {
            let part = leaf.path.iter().fold(aggregate, |whole, index| self.builder.extract(whole, *index));
            same_access(access, self.builder.store(part, self.address(address, leaf.offset)), leaf.offset);
        }
        aggregate
    }

    /// The aggregate with a part deep inside replaced.
    fn insert(&self, aggregate: Value, path: &[u32], part: Value) -> Value {
        match path {
            [] => part,
            [index] => self.builder.insert(aggregate, part, *index),
            [index, rest @ ..] => {
                let inner = self.builder.extract(aggregate, *index);
                self.builder.insert(aggregate, self.insert(inner, rest, part), *index)
            }
        }
    }

    /// A load or store of an integer of, say, 24 bits.
    fn split_odd_integer(&self, access: Value) -> Option<Value> {
        let loaded = match access.opcode() {
            Opcode::Load => access.ty(),
            Opcode::Store => access.operand(0).ty(),
            _ => return None,
        };
        let size = self.layout.stored_size(loaded);
        if loaded.kind() != TypeKind::Integer || size > 8 || is_hook_size(size) || access.is_atomic() {
            return None;
        }
        let whole = self.int(u32::try_from(size * 8).ok()?);
        Some(if access.opcode() == Opcode::Load {
            self.load_pieces(access, size, whole)
        } else {
            self.store_pieces(access, size, whole)
        })
    }

    fn load_pieces(&self, access: Value, size: u64, whole: Type) -> Value {
        let mut value = whole.constant(0);
        for (offset, bytes) in shape::pieces(size) {
            let piece = self.builder.load(self.int(u32::from(bytes) * 8), self.address(access.operand(0), offset));
            same_access(access, piece, offset);
            let wide = self.builder.cast(Opcode::ZExt, piece, whole);
            let shifted = self.builder.binary(Opcode::Shl, wide, whole.constant(offset * 8));
            value = self.builder.binary(Opcode::Or, value, shifted);
        }
        self.resize(value, access.ty())
    }

    fn store_pieces(&self, access: Value, size: u64, whole: Type) -> Value {
        let value = self.resize(access.operand(0), whole);
        for (offset, bytes) in shape::pieces(size) {
            let shifted = self.builder.binary(Opcode::LShr, value, whole.constant(offset * 8));
            let piece = self.builder.cast(Opcode::Trunc, shifted, self.int(u32::from(bytes) * 8));
            same_access(access, self.builder.store(piece, self.address(access.operand(1), offset)), offset);
        }
        value
    }

    /// An integer made wider or narrower where it has to be.
    fn resize(&self, value: Value, to: Type) -> Value {
        match value.ty().int_bits().cmp(&to.int_bits()) {
            std::cmp::Ordering::Less => self.builder.cast(Opcode::ZExt, value, to),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.builder.cast(Opcode::Trunc, value, to),
        }
    }

    /// An atomic update on floats and the like: a call of the function that does it.
    fn expand_update(&self, update: Value) -> Option<Value> {
        if update.opcode() != Opcode::AtomicRMW || update.update_operation() <= LAST_UPDATE_WITH_HOOK {
            return None;
        }
        let (address, operand) = (update.operand(0), update.operand(1));
        if !is_hook_size(self.layout.stored_size(operand.ty())) || shape::scalar_bits(operand.ty()) == 0 {
            return None;
        }
        let update = Update::of_operation(update.update_operation(), operand.ty())?;
        let function = self.update_function(update);
        let ty = self.module.context().function(&[address.ty(), operand.ty()], operand.ty());
        Some(self.builder.call(ty, function, &[address, operand]))
    }

    fn address(&self, base: Value, offset: u64) -> Value {
        if offset == 0 { base } else { self.builder.offset(self.int(8), base, self.int(64).constant(offset)) }
    }

    fn int(&self, bits: u32) -> Type {
        self.module.context().int(bits)
    }
}

/// An atomic update as a function of its own.
#[derive(Clone, Copy)]
struct Update {
    ty: Type,
    name: &'static str,
}

impl Update {
    /// The update of this number of LLVM's; none for one that we do not know.
    fn of_operation(operation: u32, ty: Type) -> Option<Update> {
        const NAMES: [&str; 8] = ["fadd", "fsub", "fmax", "fmin", "uinc_wrap", "udec_wrap", "usub_cond", "usub_sat"];
        let name = NAMES.get((operation - LAST_UPDATE_WITH_HOOK - 1) as usize)?;
        Some(Update { ty, name })
    }
}

impl Canonical<'_> {
    /// The function that performs such updates, made when it is asked for first.
    fn update_function(&self, update: Update) -> Value {
        let bits = shape::scalar_bits(update.ty);
        let kind = if update.ty.kind() == TypeKind::BFloat { "bf" } else { "" };
        let name = format!("__foretrace_atomic_{}{kind}{bits}", update.name);
        if let Some(made) = self.module.function(&name) {
            return made;
        }
        let context = self.module.context();
        let function = self.module.declare(&name, context.function(&[context.pointer(), update.ty], update.ty));
        function.set_linkage(Linkage::Internal);
        let here = Canonical { module: self.module, builder: Builder::new(context), layout: self.layout };
        here.update_body(function, update, context.int(bits));
        function
    }

    /// Loads, computes, swaps, until no other access came between.
    fn update_body(&self, function: Value, update: Update, int: Type) {
        let context = self.module.context();
        let (address, operand) = (function.parameters()[0], function.parameters()[1]);
        let [entry, again, done] = ["entry", "again", "done"].map(|name| context.block(function, name));
        self.builder.at_end(entry);
        let first = self.builder.load(int, address);
        self.builder.jump(again);
        self.builder.at_end(again);
        let seen = self.builder.phi(int);
        let old = self.builder.cast(Opcode::BitCast, seen, update.ty);
        let new = self.updated(update, old, operand);
        let new = self.builder.cast(Opcode::BitCast, new, int);
        let swapped = self.builder.compare_and_swap(address, seen, new);
        let found = self.builder.extract(swapped, 0);
        let succeeded = self.builder.extract(swapped, 1);
        self.builder.branch(succeeded, done, again);
        seen.add_incoming(entry, first);
        seen.add_incoming(again, found);
        self.builder.at_end(done);
        self.builder.ret(old);
    }

    /// What the update makes of the old value, as the LLVM reference says.
    fn updated(&self, update: Update, old: Value, operand: Value) -> Value {
        const UGT: u32 = 34;
        const UGE: u32 = 35;
        const EQ: u32 = 32;
        let build = &self.builder;
        let constant = |value| update.ty.constant(value);
        match update.name {
            "fadd" => build.binary(Opcode::FAdd, old, operand),
            "fsub" => build.binary(Opcode::FSub, old, operand),
            "fmax" | "fmin" => {
                let name = if update.name == "fmax" { "llvm.maxnum" } else { "llvm.minnum" };
                self.call_on_floats(name, update.ty, &[old, operand])
            }
            "uinc_wrap" => {
                let more = build.binary(Opcode::Add, old, constant(1));
                build.select(build.compare(UGE, old, operand), constant(0), more)
            }
            "udec_wrap" => {
                let less = build.binary(Opcode::Sub, old, constant(1));
                let kept = build.select(build.compare(UGT, old, operand), operand, less);
                build.select(build.compare(EQ, old, constant(0)), operand, kept)
            }
            name => {
                let difference = build.binary(Opcode::Sub, old, operand);
                let otherwise = if name == "usub_sat" { constant(0) } else { old };
                build.select(build.compare(UGE, old, operand), difference, otherwise)
            }
        }
    }

    fn call_on_floats(&self, name: &str, ty: Type, arguments: &[Value]) -> Value {
        let suffix = match ty.kind() {
            TypeKind::Half => "f16",
            TypeKind::BFloat => "bf16",
            TypeKind::Float => "f32",
            _ => "f64",
        };
        let name = format!("{name}.{suffix}");
        let function_type = self.module.context().function(&vec![ty; arguments.len()], ty);
        let function = self.module.function(&name).unwrap_or_else(|| self.module.declare(&name, function_type));
        self.builder.call(function_type, function, arguments)
    }
}
