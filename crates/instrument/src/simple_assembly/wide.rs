//! `cmpxchg16b`, which has its operands in fixed registers.

use super::operands::{Flag, Operand, Text, instructions};

/// A word that goes in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Word {
    Argument(usize),
    /// The word lies in memory: this argument points to the start, and the offset is in bytes.
    Memory {
        pointer: usize,
        offset: u64,
    },
}

/// A compare-and-swap of 16 bytes; of each pair the low word comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WideSwap {
    /// The argument that points to the memory.
    pub memory: usize,
    pub expected: [Word; 2],
    pub desired: [Word; 2],
    /// The outputs that get what was there before.
    pub old: [Option<usize>; 2],
    /// Where the flag of zero goes, which is set if it has written.
    pub zero: Option<Flag>,
}

impl WideSwap {
    /// Known is the instruction alone, with `movq` of the two expected words out of memory before it, and with a `setz` or `setnz` after it.
    pub fn parse(text: &str, of: &str, is_intel: bool) -> Option<WideSwap> {
        let all = Text::with_constraints(of);
        let instructions = instructions(text).filter(|_| !is_intel)?;
        let at = instructions.iter().position(|(_, instruction)| instruction.starts_with("cmpxchg16b"))?;
        let (before, [(locked, swap), after @ ..]) = instructions.split_at(at) else { return None };
        let memory = all.operand(swap.strip_prefix("cmpxchg16b")?.trim());
        let Some(Operand::Memory(memory)) = memory.filter(|_| *locked) else { return None };
        let low = all.register("{ax}");
        let high = all.register("{dx}");
        let (expected, old) = match before {
            [] => {
                let ((low, old_low), (high, old_high)) = (low?, high?);
                ([Word::Argument(low), Word::Argument(high)], [old_low, old_high])
            }
            [(false, first), (false, second)] if low.is_none() && high.is_none() => {
                ([loaded(&all, first, "%rax")?, loaded(&all, second, "%rdx")?], [None; 2])
            }
            _ => return None,
        };
        let desired = [all.register("{bx}")?.0, all.register("{cx}")?.0].map(Word::Argument);
        let zero = match after {
            [] => all.flag_output(),
            [(false, set)] => Some(all.set(set)?),
            _ => return None,
        };
        let (slot, flag_memory) = zero.map_or((None, None), |flag| (flag.slot, flag.memory));
        // The flag is written last.
        let old = old.map(|old| old.filter(|_| slot != old));
        let is_complete = all.only_written(&[old[0], old[1], slot], [Some(memory), flag_memory]);
        let is_apart = flag_memory != Some(memory);
        (is_complete && is_apart).then_some(WideSwap { memory, expected, desired, old, zero })
    }
}

/// What a `movq` out of memory puts into this register.
fn loaded(all: &Text<'_>, instruction: &str, register: &str) -> Option<Word> {
    let (from, to) = instruction.strip_prefix("movq")?.trim().split_once(',')?;
    let (offset, pointer) = from.trim().split_once('(')?;
    let offset = if offset.is_empty() { 0 } else { offset.parse().ok()? };
    let Some(Operand::Memory(pointer)) = all.operand(&format!("({pointer}")).filter(|_| to.trim() == register) else {
        return None;
    };
    Some(Word::Memory { pointer, offset })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_libraries_are_known() {
        let flag = |slot, whole| Some(Flag { slot: Some(slot), memory: None, whole, negated: false });
        let arguments = |low, high| [Word::Argument(low), Word::Argument(high)];
        let (expected, desired, old) = (arguments(1, 2), arguments(3, 4), [Some(0), Some(1)]);
        for (text, of, swap) in [
            (
                "lock cmpxchg16b $0;setz $3",
                "=*m,={ax},={dx},=q,{ax},{dx},{bx},{cx},*m,~{memory},~{cc}",
                WideSwap { memory: 0, expected, desired, old, zero: flag(2, false) },
            ),
            (
                "lock; cmpxchg16b $0\n\tsete $3",
                "=*m,={ax},={dx},=q,{bx},{cx},*m,1,2,~{memory}",
                WideSwap { memory: 0, expected: arguments(4, 5), desired: arguments(1, 2), old, zero: flag(2, false) },
            ),
            (
                "lock cmpxchg16b ($1)",
                "={@ccz},r,{bx},{cx},{ax},{dx},~{memory}",
                WideSwap {
                    memory: 0,
                    expected: arguments(3, 4),
                    desired: arguments(1, 2),
                    old: [None; 2],
                    zero: flag(0, true),
                },
            ),
            (
                "movq 0($4), %rax;movq 8($4), %rdx;lock cmpxchg16b $0; setz $1",
                "=*m,=q,{bx},{cx},q,*m,~{memory},~{cc},~{rax},~{rdx}",
                WideSwap {
                    memory: 0,
                    expected: [0, 8].map(|offset| Word::Memory { pointer: 3, offset }),
                    desired: arguments(1, 2),
                    old: [None; 2],
                    zero: flag(0, false),
                },
            ),
        ] {
            assert_eq!(WideSwap::parse(text, of, false), Some(swap), "{text}");
        }
    }

    #[test]
    fn other_forms_are_not() {
        for (text, of) in [
            ("cmpxchg16b $0", "=*m,={ax},={dx},{ax},{dx},{bx},{cx},*m"),
            ("lock cmpxchg16b $0", "=*m,={ax},={dx},=q,{ax},{dx},{bx},{cx},*m"),
            ("lock cmpxchg16b $0", "=*m,={ax},{ax},{bx},{cx},*m"),
            ("movq $0, %rax; lock cmpxchg16b $0", "=*m,={ax},={dx},{ax},{dx},{bx},{cx},*m"),
            ("movq 8($2), %rdx; movq 0($2), %rax; lock cmpxchg16b $0", "=*m,q,q,{bx},{cx},*m"),
            ("lock cmpxchg16b $0; setz $3; movq $3, $1", "=*m,={ax},={dx},=q,{ax},{dx},{bx},{cx},*m"),
            ("1: lock cmpxchg16b $0; jne 1b", "=*m,={ax},={dx},{ax},{dx},{bx},{cx},*m"),
        ] {
            assert_eq!(WideSwap::parse(text, of, false), None, "{text}");
        }
    }
}
