//! Calls of hooks, and the words that they take and give.

use super::{Hooks, hook_name};
use crate::inline;
use crate::llvm::{Opcode, Type, TypeKind, Value};
use crate::shape::scalar_bits;
use foretrace_runtime::record::{COMPUTABLE, Kind, Site, header};

impl Hooks<'_> {
    pub(super) fn site(&self, local: u32) -> Value {
        let flag = if self.computable.contains(&local) { COMPUTABLE } else { 0 };
        self.word.constant(Site::new(self.unit, local).0 | flag)
    }

    /// What performs an access, and its site: of one that may be left out inlined code, and the kind of its record.
    pub(super) fn access(&self, what: &str, size: u64, local: u32, kind: Kind) -> (String, Value) {
        let site = Site::new(self.unit, local).0;
        match self.computable.contains(&local) {
            true => (inline::name(what, size), self.word.constant(COMPUTABLE | header(kind, site))),
            false => (format!("__foretrace_{what}{size}"), self.word.constant(site)),
        }
    }

    /// Calls a hook that returns nothing.
    pub(super) fn hook(&mut self, name: &str, arguments: &[Value], site: u32) {
        self.call(hook_name(name), &[arguments, &[self.site(site)]].concat(), self.context.void());
    }

    /// Calls a hook that returns a word.
    pub(super) fn returning_hook(&mut self, name: &str, arguments: &[Value], site: u32) -> Value {
        self.call(hook_name(name), &[arguments, &[self.site(site)]].concat(), self.word)
    }

    pub(super) fn call(&mut self, name: String, arguments: &[Value], returned: Type) -> Value {
        let (module, context) = (self.module, self.context);
        let (ty, function) = *self.declared.entry(name).or_insert_with_key(|name| {
            let parameters: Vec<Type> = arguments.iter().map(|argument| argument.ty()).collect();
            let ty = context.function(&parameters, returned);
            let function = module.function(name).unwrap_or_else(|| module.declare(name, ty));
            module.add_attribute(function, "nounwind");
            (ty, function)
        });
        let call = self.builder.call(ty, function, arguments);
        call.keep_frame();
        call
    }

    /// A scalar as a word.
    pub(super) fn widen(&self, value: Value) -> Value {
        let ty = value.ty();
        match ty.kind() {
            TypeKind::Pointer => self.builder.cast(Opcode::PtrToInt, value, self.word),
            TypeKind::Integer if ty.int_bits() == 64 => value,
            TypeKind::Integer => self.builder.cast(Opcode::ZExt, value, self.word),
            _ => {
                let bits = self.builder.cast(Opcode::BitCast, value, self.context.int(scalar_bits(ty)));
                self.widen(bits)
            }
        }
    }

    /// A word as a scalar.
    pub(super) fn narrow(&self, word: Value, ty: Type) -> Value {
        match ty.kind() {
            TypeKind::Pointer => self.builder.cast(Opcode::IntToPtr, word, ty),
            TypeKind::Integer if ty.int_bits() == 64 => word,
            TypeKind::Integer => self.builder.cast(Opcode::Trunc, word, ty),
            _ => {
                let bits = self.narrow(word, self.context.int(scalar_bits(ty)));
                self.builder.cast(Opcode::BitCast, bits, ty)
            }
        }
    }
}
