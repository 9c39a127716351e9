//! Assembly in the source that may order threads. Its effect is unknown, so the trace says where it ran.

use crate::llvm::{Builder, LlvmError, Module, Opcode, Value, ValueKind};

/// The runtime's function: `(what, object)`, both strings or null.
const HOOK: &str = "foretrace_unseen";
/// What the trace calls it.
const TEXT: &str = "foretrace.assembly";
/// Instructions that no thread waits for, nor learns from what another did.
const HARMLESS: [&str; 20] = [
    "pause",
    "nop",
    "rep",
    "mfence",
    "lfence",
    "sfence",
    "cpuid",
    "rdtsc",
    "rdtscp",
    "rdpmc",
    "rdrand",
    "rdseed",
    "prefetchnta",
    "prefetcht0",
    "prefetcht1",
    "prefetcht2",
    "prefetchw",
    "emms",
    "endbr64",
    "cld",
];

/// Says before and after such assembly that it runs there; the functions that have some.
pub fn tell_runtime(module: &Module, functions: &[Value]) -> Result<Vec<String>, LlvmError> {
    let found: Vec<(Value, Value)> = functions
        .iter()
        .flat_map(|function| function.blocks().into_iter().map(move |block| (*function, block)))
        .flat_map(|(function, block)| block.instructions().into_iter().map(move |call| (function, call)))
        .filter(|(_, call)| may_order(*call))
        .collect();
    if found.is_empty() {
        return Ok(Vec::new());
    }
    // What is linked once is left out as long as nothing uses it, so it must be weak.
    module.link(&format!("@{TEXT} = weak_odr hidden constant [9 x i8] c\"assembly\\00\"\n"))?;
    let missing = || LlvmError::Said { doing: "linking a text", message: format!("{TEXT} is missing") };
    let text = module.variable(TEXT).ok_or_else(missing)?;
    let (context, builder) = (module.context(), Builder::new(module.context()));
    let ty = context.function(&[context.pointer(), context.pointer()], context.void());
    let hook = module.function(HOOK).unwrap_or_else(|| module.declare(HOOK, ty));
    let mut names: Vec<String> = Vec::new();
    for (function, call) in found {
        let arguments = [text, context.pointer().zero()];
        builder.before(call);
        builder.call(ty, hook, &arguments);
        if let Some(next) = call.next() {
            builder.before(next);
            builder.call(ty, hook, &arguments);
        }
        let name = function.name();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Whether a call is one of assembly that may wait for another thread, or let one go on.
fn may_order(call: Value) -> bool {
    if !matches!(call.opcode(), Opcode::Call | Opcode::Invoke) || call.callee().kind() != ValueKind::InlineAsm {
        return false;
    }
    let callee = call.callee();
    let (text, constraints) = (callee.assembly(), callee.constraints());
    reaches_memory(&text, &constraints) && !is_harmless(&text)
}

/// Whether it may access memory of the program: an operand in memory (`*`; a value that may lie in memory is a copy), memory that a register
/// points to, or any memory.
fn reaches_memory(text: &str, constraints: &str) -> bool {
    text.contains('(') || constraints.split(',').any(|constraint| constraint.contains('*') || constraint == "~{memory}")
}

/// Whether all its instructions are known to be of no consequence to other threads.
fn is_harmless(text: &str) -> bool {
    text.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).all(|line| {
        let words = line.split_whitespace().map(|word| word.to_ascii_lowercase());
        words.take(2).next().is_some_and(|word| HARMLESS.contains(&word.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::{is_harmless, reaches_memory};

    #[test]
    fn assembly_of_registers_alone_reaches_no_memory() {
        for (text, constraints, reaches) in [
            ("bsrq $1,$0", "=r,rm,~{cc}", false),
            ("movl $1,$0", "=r,*m", true),
            ("lock incl ($0)", "r", true),
            ("syscall", "={ax},{ax},~{memory}", true),
            ("paddd $1,$0", "=x,x,~{mm0}", false),
        ] {
            assert_eq!(reaches_memory(text, constraints), reaches, "{text}");
        }
    }

    #[test]
    fn instructions_that_threads_may_meet_in_are_told_from_others() {
        for (text, harmless) in [
            ("", true),
            ("pause", true),
            ("rep; nop", true),
            ("mfence\n\tpause", true),
            ("xchgl $0,$1", false),
            ("lock incl $0", false),
            ("movl $$0,$0", false),
            ("pause; lock; decl $0", false),
        ] {
            assert_eq!(is_harmless(text), harmless, "{text}");
        }
    }
}
