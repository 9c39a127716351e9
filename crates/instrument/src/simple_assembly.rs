//! Assembly that is one atomic operation on one piece of memory becomes that operation, which is recorded like any other.

use crate::llvm::{Builder, Module, Opcode, Type, Value, ValueKind};
use crate::shape::scalar_bits;

/// LLVM's numbers of atomic updates.
const EXCHANGE: u32 = 0;
const ADD: u32 = 1;
const SUB: u32 = 2;

/// What such assembly does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Simple {
    /// Exchanges a register with memory, of so many bits.
    Exchange(u32),
    /// Adds a register, which gets what was there.
    ExchangeAdd(u32),
    /// Adds or takes away 1.
    Count(u32, u32),
    /// Writes a constant.
    Write(u32, u64),
}

/// Puts operations in the places of such assembly.
pub fn replace(module: &Module, functions: &[Value]) {
    let builder = Builder::new(module.context());
    for call in functions.iter().flat_map(|function| function.blocks()).flat_map(|block| block.instructions()) {
        if call.opcode() == Opcode::Call
            && call.callee().kind() == ValueKind::InlineAsm
            && let Some(simple) = parse(&call.callee().assembly(), &call.callee().constraints())
        {
            put(module, &builder, call, simple);
        }
    }
}

fn put(module: &Module, builder: &Builder, call: Value, simple: Simple) {
    let arguments = call.arguments();
    let Some(address) = arguments.iter().copied().find(|argument| argument.ty().is_plain_pointer()) else { return };
    let word = |bits| module.context().int(bits);
    let value = |ty: Type| arguments.iter().copied().find(|argument| argument.ty() == ty);
    builder.before(call);
    let (by, operand) = match simple {
        Simple::Exchange(bits) | Simple::ExchangeAdd(bits) => {
            let Some(operand) = value(word(bits)).filter(|_| scalar_bits(call.ty()) == bits) else { return };
            (if simple == Simple::Exchange(bits) { EXCHANGE } else { ADD }, operand)
        }
        Simple::Count(bits, by) => (by, word(bits).constant(1)),
        Simple::Write(bits, constant) => (EXCHANGE, word(bits).constant(constant)),
    };
    let old = builder.update(by, address, operand);
    if scalar_bits(call.ty()) > 0 {
        call.replace_with(old);
    }
    call.erase();
}

/// The size that an instruction's suffix says.
fn bits(suffix: &str) -> Option<u32> {
    match suffix {
        "b" => Some(8),
        "w" => Some(16),
        "l" => Some(32),
        "q" => Some(64),
        _ => None,
    }
}

fn parse(text: &str, constraints: &str) -> Option<Simple> {
    let constraints: Vec<&str> = constraints.split(',').filter(|constraint| !constraint.starts_with('~')).collect();
    let text = text.trim().replace('\t', " ");
    let (locked, text) = match text.strip_prefix("lock") {
        Some(rest) => (true, rest.trim_start_matches([' ', ';', '\n'])),
        None => (false, text.as_str()),
    };
    let (name, operands) = text.split_once(' ')?;
    let operands: String = operands.chars().filter(|character| !character.is_whitespace()).collect();
    let memory = |index: usize| constraints.get(index).is_some_and(|constraint| constraint.ends_with("*m"));
    let register =
        |index: usize| constraints.get(index).is_some_and(|constraint| matches!(*constraint, "=r" | "=q" | "=&r"));
    // The outputs, then for each its value before.
    let in_and_out = |first_is_register: bool| {
        let back = if first_is_register { ["0", "1"] } else { ["1", "0"] };
        let ins = constraints.get(2..)?;
        let tied = ins.iter().filter(|constraint| back.contains(*constraint)).count();
        (constraints.len() == 4 && tied == 1 && ins.iter().any(|constraint| constraint.ends_with("*m"))).then_some(())
    };
    if let Some(size) = name.strip_prefix("xchg").or_else(|| name.strip_prefix("xadd").filter(|_| locked)) {
        let fits = match operands.as_str() {
            "$0,$1" if register(0) && memory(1) => in_and_out(true),
            "$0,$1" | "$1,$0" if memory(0) && register(1) && name.starts_with("xchg") => in_and_out(false),
            "$1,$0" if register(0) && memory(1) && name.starts_with("xchg") => in_and_out(true),
            "$1,$0" if memory(0) && register(1) => in_and_out(false),
            _ => None,
        };
        fits?;
        let bits = bits(size)?;
        return Some(if name.starts_with("xchg") { Simple::Exchange(bits) } else { Simple::ExchangeAdd(bits) });
    }
    for (start, by) in [("inc", ADD), ("dec", SUB)] {
        if let Some(size) = name.strip_prefix(start).filter(|_| locked) {
            let one = operands == "$0" && memory(0) && (constraints.len() == 1 || constraints.len() == 2 && memory(1));
            return one.then_some(Simple::Count(bits(size)?, by));
        }
    }
    let size = name.strip_prefix("mov").filter(|_| !locked)?;
    let constant = operands.strip_prefix("$$")?.strip_suffix(",$0")?;
    let writes = memory(0) && (constraints.len() == 1 || constraints.len() == 2 && memory(1));
    writes.then_some(Simple::Write(bits(size)?, constant.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_operations_are_known() {
        for (text, constraints, simple) in [
            ("xchgl $0,$1", "=r,=*m,0,*m,~{memory},~{dirflag}", Some(Simple::Exchange(32))),
            ("lock; xaddq $0, $1", "=r,=*m,0,*m,~{memory}", Some(Simple::ExchangeAdd(64))),
            ("lock incl $0", "=*m,*m,~{memory}", Some(Simple::Count(32, ADD))),
            ("lock\n\tdecw $0", "=*m,*m", Some(Simple::Count(16, SUB))),
            ("movl $$0,$0", "=*m,~{memory}", Some(Simple::Write(32, 0))),
            ("incl $0", "=*m,*m", None),
            ("lock decl $0; sete $1", "=*m,=q,*m", None),
            ("xchgl $0,$1", "=r,=*m,~{memory}", None),
            ("movl $0,$1", "=r,*m", None),
        ] {
            assert_eq!(parse(text, constraints), simple, "{text}");
        }
    }
}
