//! Which of LLVM's intrinsics are accesses, arithmetic, or no code.

use crate::llvm::{Value, ValueKind};

/// What a call of an intrinsic does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Intrinsic {
    /// Nothing that a program could see.
    Nothing,
    /// memcpy or memmove.
    Copy,
    /// memset.
    Set,
    /// Its value is its first argument.
    First,
    /// Anything else.
    Other,
}

/// Starts of the names of those without effect.
const NOTHING: [&str; 14] = [
    "llvm.lifetime.",
    "llvm.dbg.",
    "llvm.assume",
    "llvm.experimental.noalias",
    "llvm.prefetch",
    "llvm.donothing",
    "llvm.sideeffect",
    "llvm.invariant.",
    "llvm.var.annotation",
    "llvm.pseudoprobe",
    "llvm.codeview.annotation",
    "llvm.instrprof.",
    "llvm.fake.use",
    "llvm.stackrestore",
];

/// Starts of the names of those that answer with their first argument.
const FIRST: [&str; 7] = [
    "llvm.expect.",
    "llvm.launder.invariant.group",
    "llvm.strip.invariant.group",
    "llvm.ssa.copy",
    "llvm.annotation.",
    "llvm.ptr.annotation.",
    "llvm.arithmetic.fence",
];

/// The name of the intrinsic that a call calls.
pub fn name_of_call(call: Value) -> Option<String> {
    let callee = call.callee();
    let name = (callee.kind() == ValueKind::Function).then(|| callee.name())?;
    name.starts_with("llvm.").then_some(name)
}

/// What the intrinsic of this name does.
pub fn classify(name: &str) -> Intrinsic {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if starts(&NOTHING) {
        Intrinsic::Nothing
    } else if starts(&["llvm.memcpy.p0.p0.", "llvm.memcpy.inline.p0.p0.", "llvm.memmove.p0.p0."]) {
        Intrinsic::Copy
    } else if starts(&["llvm.memset.p0.", "llvm.memset.inline.p0."]) {
        Intrinsic::Set
    } else if starts(&FIRST) {
        Intrinsic::First
    } else {
        Intrinsic::Other
    }
}
