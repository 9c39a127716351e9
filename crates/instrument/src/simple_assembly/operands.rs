//! The text of assembly and its constraints, as one operation.

use super::intel::to_att;

/// LLVM's numbers of atomic updates.
pub(super) const EXCHANGE: u32 = 0;
pub(super) const ADD: u32 = 1;
pub(super) const SUB: u32 = 2;
pub(super) const AND: u32 = 3;
pub(super) const OR: u32 = 5;
pub(super) const XOR: u32 = 6;

/// What such assembly does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Simple {
    pub action: Action,
    /// Of the memory; nothing where the instruction's name does not say so: then it is that of its register.
    pub bits: Option<u32>,
    /// The argument that points there.
    pub memory: usize,
    /// The output that gets what was there before.
    pub old: Option<usize>,
    /// Where the flag of zero goes: set if the result is 0, or if a `cmpxchg` has written.
    pub zero: Option<Flag>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    Load,
    Store(Input),
    /// By LLVM's number of the update.
    Update(u32, Input),
    CompareAndSwap {
        expected: Input,
        desired: Input,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Input {
    Argument(usize),
    Constant(u64),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Flag {
    /// The output, if it is a register.
    pub slot: Option<usize>,
    /// The argument that points to a byte, if it is memory.
    pub memory: Option<usize>,
    /// Whether all of the output is written, and not one byte of it.
    pub whole: bool,
    /// Whether it is 1 if the flag is not set.
    pub negated: bool,
}

impl Input {
    pub fn argument(self) -> Option<usize> {
        match self {
            Input::Argument(index) => Some(index),
            Input::Constant(_) => None,
        }
    }
}

impl Simple {
    pub fn operand(&self) -> Option<Input> {
        match self.action {
            Action::Load => None,
            Action::Store(input) | Action::Update(_, input) => Some(input),
            Action::CompareAndSwap { desired, .. } => Some(desired),
        }
    }

    pub fn expected(&self) -> Option<Input> {
        match self.action {
            Action::CompareAndSwap { expected, .. } => Some(expected),
            _ => None,
        }
    }
}

/// One constraint: an output or an input.
struct Constraint<'a> {
    /// Without the marks of an output and of memory.
    text: &'a str,
    is_output: bool,
    /// Its place among the arguments, if it is one of them.
    argument: Option<usize>,
    /// Its place among the results, if it is one of them.
    slot: Option<usize>,
}

impl Constraint<'_> {
    fn is_memory(&self) -> bool {
        self.argument.is_some() && self.is_indirect()
    }

    fn is_indirect(&self) -> bool {
        self.text.starts_with('*')
    }
}

fn constraints(text: &str) -> Vec<Constraint<'_>> {
    let (mut arguments, mut slots) = (0, 0);
    let next = |of: &mut usize| {
        *of += 1;
        *of - 1
    };
    let real = text.split(',').filter(|constraint| !constraint.is_empty() && !constraint.starts_with('~'));
    real.map(|constraint| {
        let is_output = constraint.starts_with('=');
        let text = constraint.trim_start_matches(['=', '&']);
        let is_result = is_output && !text.starts_with('*');
        Constraint {
            text,
            is_output,
            argument: (!is_result).then(|| next(&mut arguments)),
            slot: is_result.then(|| next(&mut slots)),
        }
    })
    .collect()
}

/// The instructions, `lock` with the one that it belongs to.
pub(super) fn instructions(text: &str) -> Option<Vec<(bool, &str)>> {
    let mut found = Vec::new();
    let mut locked = false;
    for statement in text.split([';', '\n']).map(str::trim).filter(|statement| !statement.is_empty()) {
        let rest = statement.strip_prefix("lock").filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
        locked |= rest.is_some();
        let instruction = rest.unwrap_or(statement).trim();
        if !instruction.is_empty() {
            found.push((locked, instruction));
            locked = false;
        }
    }
    (!locked).then_some(found)
}

/// Where an operand of an instruction lies.
pub(super) enum Operand {
    /// Memory that this argument points to.
    Memory(usize),
    /// The constraint of this number.
    Register(usize),
    Constant(u64),
}

pub(super) struct Text<'a> {
    constraints: Vec<Constraint<'a>>,
}

pub(super) fn parse(text: &str, of: &str, is_intel: bool) -> Option<Simple> {
    let all = Text::with_constraints(of);
    let instructions = instructions(text)?;
    let att = |instruction: &str| if is_intel { to_att(instruction) } else { instruction.to_string() };
    let instructions: Vec<(bool, String)> =
        instructions.into_iter().map(|(locked, instruction)| (locked, att(instruction))).collect();
    let ((locked, first), after) = instructions.split_first()?;
    let mut simple = all.operation(*locked, first)?;
    simple.zero = match after {
        [] => all.flag_output(),
        [(false, set)] if !first.starts_with("not") => Some(all.set(set)?),
        _ => return None,
    };
    let complete = all.all_written(&simple);
    // The flag is written last.
    simple.old = simple.old.filter(|_| simple.zero.is_none_or(|flag| flag.slot != simple.old));
    complete.then_some(simple)
}

impl<'a> Text<'a> {
    pub(super) fn with_constraints(text: &'a str) -> Text<'a> {
        Text { constraints: constraints(text) }
    }

    fn operation(&self, locked: bool, instruction: &str) -> Option<Simple> {
        let (name, operands) = instruction.split_once([' ', '\t'])?;
        let operands: String = operands.chars().filter(|character| !character.is_whitespace()).collect();
        let (stem, bits) = stem_and_bits(name)?;
        if bits.is_none() && operands.contains(':') {
            return None; // a part of a register
        }
        let operands: Vec<Operand> = operands.split(',').map(|text| self.operand(text)).collect::<Option<_>>()?;
        let simple = |action, memory, old| Some(Simple { action, bits, memory, old, zero: None });
        match (stem, operands.as_slice()) {
            ("mov", [Operand::Memory(memory), Operand::Register(to)]) if !locked => {
                simple(Action::Load, *memory, Some(self.output(*to)?))
            }
            ("mov", [from, Operand::Memory(memory)]) if !locked => {
                simple(Action::Store(self.input(from)?), *memory, None)
            }
            ("xchg", [Operand::Memory(memory), Operand::Register(register)])
            | ("xchg", [Operand::Register(register), Operand::Memory(memory)]) => {
                let input = self.value_before(*register)?;
                simple(Action::Update(EXCHANGE, input), *memory, Some(self.output(*register)?))
            }
            ("xadd", [Operand::Register(register), Operand::Memory(memory)]) if locked => {
                simple(Action::Update(ADD, self.value_before(*register)?), *memory, Some(self.output(*register)?))
            }
            ("inc" | "dec", [Operand::Memory(memory)]) if locked => {
                let by = if stem == "inc" { ADD } else { SUB };
                simple(Action::Update(by, Input::Constant(1)), *memory, None)
            }
            // It sets no flag.
            ("not", [Operand::Memory(memory)]) if locked && self.flag_output().is_none() => {
                let all_ones = u64::MAX >> (64 - bits?);
                simple(Action::Update(XOR, Input::Constant(all_ones)), *memory, None)
            }
            ("add" | "sub" | "and" | "or" | "xor", [from, Operand::Memory(memory)]) if locked => {
                let by = match stem {
                    "add" => ADD,
                    "sub" => SUB,
                    "and" => AND,
                    "or" => OR,
                    _ => XOR,
                };
                simple(Action::Update(by, self.input(from)?), *memory, None)
            }
            ("cmpxchg", [from, Operand::Memory(memory)]) if locked => {
                let (expected, old) = self.register("{ax}")?;
                let action = Action::CompareAndSwap { expected: Input::Argument(expected), desired: self.input(from)? };
                simple(action, *memory, old)
            }
            _ => None,
        }
    }

    pub(super) fn operand(&self, text: &str) -> Option<Operand> {
        if let Some(constant) = text.strip_prefix("$$") {
            return Some(Operand::Constant(constant.parse::<i64>().ok()?.cast_unsigned()));
        }
        if let Some(pointer) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
            let pointer = self.constraints.get(number(pointer)?)?;
            let is_register = !pointer.is_output && !pointer.is_indirect();
            return pointer.argument.filter(|_| is_register).map(Operand::Memory);
        }
        let index = number(text)?;
        let constraint = self.constraints.get(index)?;
        Some(if constraint.is_memory() { Operand::Memory(constraint.argument?) } else { Operand::Register(index) })
    }

    /// What an instruction reads.
    fn input(&self, operand: &Operand) -> Option<Input> {
        match operand {
            Operand::Memory(_) => None,
            Operand::Constant(value) => Some(Input::Constant(*value)),
            Operand::Register(index) if self.constraints[*index].is_output => self.value_before(*index),
            Operand::Register(index) => self.constraints[*index].argument.map(Input::Argument),
        }
    }

    /// What an output held before.
    fn value_before(&self, output: usize) -> Option<Input> {
        let tied = self.constraints.iter().find(|constraint| constraint.text.parse() == Ok(output))?;
        tied.argument.map(Input::Argument)
    }

    pub(super) fn output(&self, index: usize) -> Option<usize> {
        self.constraints.get(index)?.slot
    }

    /// The argument that a register gets, and the output that it gives. It has a name such as `{ax}`.
    pub(super) fn register(&self, name: &str) -> Option<(usize, Option<usize>)> {
        let is_it = |constraint: &Constraint| constraint.text == name;
        let output = self.constraints.iter().position(|constraint| constraint.is_output && is_it(constraint));
        let is_tied = |constraint: &Constraint| output.is_some() && constraint.text.parse().ok() == output;
        let input = self.constraints.iter().find(|it| !it.is_output && (is_it(it) || is_tied(it)))?;
        Some((input.argument?, output.and_then(|index| self.constraints[index].slot)))
    }

    /// A flag as an output of the compiler's own.
    pub(super) fn flag_output(&self) -> Option<Flag> {
        self.constraints.iter().find_map(|constraint| {
            let condition = constraint.text.strip_prefix("{@cc")?.strip_suffix('}')?;
            Some(Flag { slot: constraint.slot, memory: None, whole: true, negated: negated(condition)? })
        })
    }

    /// An instruction that puts the flag of zero into a byte.
    pub(super) fn set(&self, instruction: &str) -> Option<Flag> {
        let (name, operand) = instruction.split_once([' ', '\t'])?;
        let flag = Flag { slot: None, memory: None, whole: false, negated: negated(name.strip_prefix("set")?)? };
        match self.operand(operand.trim())? {
            Operand::Memory(argument) => Some(Flag { memory: Some(argument), ..flag }),
            Operand::Register(index) => Some(Flag { slot: Some(self.output(index)?), ..flag }),
            Operand::Constant(_) => None,
        }
    }

    /// Whether the assembly gives all that it promises, and no flag that it has not.
    fn all_written(&self, simple: &Simple) -> bool {
        let has_flag = match simple.action {
            Action::Update(by, _) => by != EXCHANGE && simple.old.is_none(),
            Action::CompareAndSwap { .. } => true,
            Action::Load | Action::Store(_) => false,
        };
        let flag = simple.zero;
        let of_flag = |get: fn(Flag) -> Option<usize>| flag.and_then(get);
        let (slot, memory) = (of_flag(|flag| flag.slot), of_flag(|flag| flag.memory));
        (flag.is_none() || has_flag)
            && memory != Some(simple.memory)
            && self.only_written(&[simple.old, slot], [Some(simple.memory), memory])
    }

    /// Whether these results and the memory behind these arguments are all that the assembly promises.
    pub(super) fn only_written(&self, slots: &[Option<usize>], memory: [Option<usize>; 2]) -> bool {
        self.constraints.iter().filter(|constraint| constraint.is_output).all(|output| match output.slot {
            Some(_) => slots.contains(&output.slot),
            None => memory.contains(&output.argument),
        })
    }
}

/// The number of an operand, with or without a modifier.
fn number(text: &str) -> Option<usize> {
    let text = text.strip_prefix('$')?;
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    inner.map_or(text, |inner| inner.split(':').next().unwrap_or(inner)).parse().ok()
}

fn negated(condition: &str) -> Option<bool> {
    match condition {
        "z" | "e" => Some(false),
        "nz" | "ne" => Some(true),
        _ => None,
    }
}

/// An instruction and the size that its suffix says, if it has one.
fn stem_and_bits(name: &str) -> Option<(&str, Option<u32>)> {
    const WITH_REGISTER: [&str; 9] = ["mov", "xchg", "xadd", "cmpxchg", "add", "sub", "and", "or", "xor"];
    if WITH_REGISTER.contains(&name) {
        return Some((name, None));
    }
    let (stem, suffix) = name.split_at_checked(name.len().checked_sub(1)?)?;
    let bits = match suffix {
        "b" => 8,
        "w" => 16,
        "l" => 32,
        "q" => 64,
        _ => return None,
    };
    Some((stem, Some(bits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simple(action: Action, bits: u32, memory: usize, old: Option<usize>) -> Option<Simple> {
        Some(Simple { action, bits: Some(bits), memory, old, zero: None })
    }

    #[test]
    fn single_operations_are_known() {
        let (second, one) = (Input::Argument(1), Input::Constant(1));
        for (text, of, expected) in [
            (
                "xchgl $0,$1",
                "=r,=*m,0,*m,~{memory},~{dirflag}",
                simple(Action::Update(EXCHANGE, second), 32, 0, Some(0)),
            ),
            ("xchgb ${0:b}, $1", "=q,=*m,0,*m", simple(Action::Update(EXCHANGE, second), 8, 0, Some(0))),
            ("lock; xaddq $0, $1", "=r,=*m,0,*m,~{memory}", simple(Action::Update(ADD, second), 64, 0, Some(0))),
            ("lock incl $0", "=*m,*m,~{memory}", simple(Action::Update(ADD, one), 32, 0, None)),
            ("lock\n\tdecw $0", "=*m,*m", simple(Action::Update(SUB, one), 16, 0, None)),
            ("lock ; incl ($0)", "r,~{memory},~{cc}", simple(Action::Update(ADD, one), 32, 0, None)),
            ("lock orl $1,$0", "=*m,ir,*m", simple(Action::Update(OR, second), 32, 0, None)),
            ("movl $$0,$0", "=*m,~{memory}", simple(Action::Store(Input::Constant(0)), 32, 0, None)),
            ("movq $1, $0", "=*m,Zq,~{memory}", simple(Action::Store(second), 64, 0, None)),
            ("movl $1, $0", "=q,*m,~{memory}", simple(Action::Load, 32, 0, Some(0))),
            (
                "lock notl ($0)",
                "r,~{memory}",
                simple(Action::Update(XOR, Input::Constant(u32::MAX.into())), 32, 0, None),
            ),
            ("lock notl $0; sete $1", "=*m,=q,*m", None),
            ("notl $0", "=*m,*m", None),
            ("movl $0,$1", "=r,*m", None),
            ("incl $0", "=*m,*m", None),
            ("xchgl $0,$1", "=r,=*m,~{memory}", None),
            ("lock incl $0; lock incl $1", "=*m,=*m,*m,*m", None),
            ("lock xaddl $1, $0; movl $1, $2", "=*m,=r,=r,*m,1", None),
            ("lock incl $0", "=*m,=r,*m", None),
            ("lock incl ($0)", "=r", None),
            ("movl $0, $1", "=*m,=*m", None),
        ] {
            assert_eq!(parse(text, of, false), expected, "{text}");
        }
    }

    /// As rustc writes it.
    #[test]
    fn operations_in_the_syntax_of_intel() {
        let all_ones = Action::Update(XOR, Input::Constant(u64::MAX));
        assert_eq!(parse("lock not qword ptr [${0:q}]", "r,~{memory}", true), simple(all_ones, 64, 0, None));
        let add = Action::Update(ADD, Input::Argument(1));
        let of = "=r,r,0,~{dirflag},~{fpsr},~{flags},~{memory}";
        assert_eq!(parse("lock xadd dword ptr [${1:q}], ${0:k}", of, true), simple(add, 32, 0, Some(0)));
        let load = simple(Action::Load, 64, 0, Some(0));
        assert_eq!(parse("mov ${0:q}, qword ptr [${1:q}]", "=r,r", true), load);
        assert_eq!(parse("mov qword ptr [${1:q}], ${0:q}", "=r,r", true), None, "an output that is not written");
    }

    #[test]
    fn registers_say_the_size_where_the_name_does_not() {
        for (text, of) in [
            ("lock; cmpxchg $2, $1;", "={ax},=*m,r,0,*m,~{memory}"),
            ("lock xadd $0, $1", "=r,=*m,0,*m"),
            ("mov $1, $0", "=*m,r"),
            ("lock; sub $1, $0", "=*m,r,*m"),
        ] {
            assert_eq!(parse(text, of, false).expect(text).bits, None, "{text}");
        }
        for (text, of) in [("xchg ${0:b}, $1", "=q,=*m,0,*m"), ("lock inc $0", "=*m,*m")] {
            assert_eq!(parse(text, of, false), None, "{text}");
        }
    }

    #[test]
    fn flags_go_where_they_are_asked_for() {
        let flag = |slot, memory, whole, negated| Some(Flag { slot, memory, whole, negated });
        for (text, of, expected) in [
            ("lock decl $0; sete $1", "=*m,=q,*m", flag(Some(0), None, false, false)),
            ("lock decl $0; setnz $1", "=*m,=*qm,*m", flag(None, Some(1), false, true)),
            ("lock decl $0", "=*m,={@ccnz},*m", flag(Some(0), None, true, true)),
        ] {
            assert_eq!(parse(text, of, false).expect(text).zero, expected, "{text}");
        }
        for (text, of) in [
            ("lock decl $0; setc $1", "=*m,=q,*m"),
            ("lock decl $0", "=*m,={@ccc},*m"),
            ("xchgl $0,$1; sete $2", "=r,=*m,=q,0,*m"),
            ("movl $1, $0; sete $2", "=*m,r,=q"),
        ] {
            assert_eq!(parse(text, of, false), None, "{text}");
        }
    }

    #[test]
    fn compare_and_swap_has_its_accumulator() {
        let swap = |expected, desired| Action::CompareAndSwap {
            expected: Input::Argument(expected),
            desired: Input::Argument(desired),
        };
        for (text, of, action, old, slot) in [
            ("lock; cmpxchgl $1,$2", "={ax},r,*m,0", swap(2, 0), Some(0), None),
            ("lock; cmpxchgl $2, $1", "={ax},=*m,r,0,*m", swap(2, 1), Some(0), None),
            ("lock cmpxchgl $2, $0; setz $1", "=*m,={ax},q,{ax},*m", swap(2, 1), None, Some(0)),
            ("lock; cmpxchgl $3, $0;", "=*m,={@ccz},={ax},q,*m,2", swap(3, 1), Some(1), Some(0)),
        ] {
            let found = parse(text, of, false).expect(text);
            assert_eq!((found.action, found.old), (action, old), "{text}");
            assert_eq!(found.zero.and_then(|flag| flag.slot), slot, "{text}");
        }
        assert_eq!(parse("lock cmpxchgl $1, $0", "=*m,r,*m", false), None, "no accumulator");
        assert_eq!(parse("cmpxchgl $1,$2", "={ax},r,*m,0", false), None, "not atomic");
    }
}
