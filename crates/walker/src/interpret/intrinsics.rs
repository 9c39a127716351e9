//! LLVM's intrinsics: computed where terms can say it, else their arguments are fixed.

use super::Walk;
use super::thread::Step;
use crate::program::Function;
use crate::value::{Value, Word, mask};
use foretrace_instrument::sidecar::{Operand, Type};
use foretrace_runtime::record::Kind;
use foretrace_trace::Func;

impl Walk<'_, '_> {
    pub(super) fn intrinsic(
        &mut self,
        function: &Function,
        index: usize,
        name: &str,
        arguments: &[Operand],
    ) -> Step<()> {
        if base_name(name) == "va_start" {
            return self.start_variadic(function, index);
        }
        let ty = &function.instructions[index].ty;
        let width = ty.bits();
        let record = match width {
            0 => None,
            _ => Some(self.expect(function, index, "an intrinsic's", |kind| kind == Kind::Value)?),
        };
        self.operation(u64::from(width > 0));
        let base = base_name(name);
        if let ("threadlocal.address", Some(record), Some(Operand::Address(symbol, offset))) =
            (base, record, arguments.first())
        {
            self.see_thread_local(symbol, Word::constant(64, record.words[0].wrapping_add_signed(-offset)));
        }
        let values: Vec<Value> = arguments.iter().map(|argument| self.operand(argument)).collect();
        if let Type::Aggregate(parts) = ty {
            let computed = self.with_overflow(base, parts, &values);
            if !matches!(computed, Value::Aggregate(_)) {
                values.iter().for_each(|value| self.pin_value(value, &format!("llvm.{base}")));
            }
            return self.set(index, computed); // no records: where it is not known, its parts have their own
        }
        let Some(record) = record else { return self.set(index, Value::Untracked) };
        let computed = self.intrinsic_word(base, width, &values);
        let Some(word) = computed.filter(|word| word.is_known()) else {
            let by = format!("llvm.{base}");
            for value in &values {
                self.pin_value(value, &by);
            }
            return self.set(index, Self::recorded(width, record.words[0]));
        };
        let word = self.checked(word, record.words[0], name);
        self.set_word(index, word)
    }

    /// The value of an intrinsic that can be computed.
    fn intrinsic_word(&mut self, name: &str, width: u32, values: &[Value]) -> Option<Word> {
        let word = |at: usize| match values.get(at) {
            Some(Value::Word(word)) if word.is_known() => Some(*word),
            _ => None,
        };
        let a = word(0)?;
        if values.iter().all(|value| !matches!(value, Value::Word(word) if word.term.is_some())) {
            return None; // the log says it, and it is the same in every schedule
        }
        match name {
            "umin" => Some(self.smaller(Func::BvUlt, a, word(1)?)),
            "umax" => Some(self.smaller(Func::BvUgt, a, word(1)?)),
            "smin" => Some(self.smaller(Func::BvSlt, a, word(1)?)),
            "smax" => Some(self.smaller(Func::BvSgt, a, word(1)?)),
            "abs" => {
                let zero = Word::constant(width, 0);
                let negated = self.world.expressions.binary(Func::BvSub, zero, a);
                let is_negative = self.world.expressions.compare(Func::BvSlt, a, zero);
                Some(self.world.expressions.select(is_negative, negated, a))
            }
            "usub.sat" => {
                let b = word(1)?;
                let fits = self.world.expressions.compare(Func::BvUge, a, b);
                let difference = self.world.expressions.binary(Func::BvSub, a, b);
                Some(self.world.expressions.select(fits, difference, Word::constant(width, 0)))
            }
            "expect" | "expect.with.probability" | "ssa.copy" => Some(a),
            "bswap" if width.is_multiple_of(8) => Some(self.bytes_swapped(a)),
            "fshl" => self.funnel(a, word(1)?, word(2)?, true),
            "fshr" => self.funnel(a, word(1)?, word(2)?, false),
            "ctpop" if width <= 64 => Some(self.bits_counted(a)),
            _ => None,
        }
    }

    fn smaller(&mut self, func: Func, a: Word, b: Word) -> Word {
        let first = self.world.expressions.compare(func, a, b);
        self.world.expressions.select(first, a, b)
    }

    fn bytes_swapped(&mut self, word: Word) -> Word {
        let size = word.width() / 8;
        let mut swapped = Word::constant(word.width(), 0);
        for byte in 0..size {
            let expressions = &mut self.world.expressions;
            let down = expressions.binary(Func::BvLshr, word, Word::constant(word.width(), u64::from(byte) * 8));
            let one = expressions.binary(Func::BvAnd, down, Word::constant(word.width(), 0xff));
            let to = u64::from(size - 1 - byte) * 8;
            let up = expressions.binary(Func::BvShl, one, Word::constant(word.width(), to));
            swapped = expressions.binary(Func::BvOr, swapped, up);
        }
        swapped
    }

    fn bits_counted(&mut self, word: Word) -> Word {
        let mut sum = Word::constant(word.width(), 0);
        for bit in 0..word.width() {
            let expressions = &mut self.world.expressions;
            let down = expressions.binary(Func::BvLshr, word, Word::constant(word.width(), u64::from(bit)));
            let one = expressions.binary(Func::BvAnd, down, Word::constant(word.width(), 1));
            sum = expressions.binary(Func::BvAdd, sum, one);
        }
        sum
    }

    /// The upper (or lower) half of two words together, shifted by a constant.
    fn funnel(&mut self, high: Word, low: Word, amount: Word, left: bool) -> Option<Word> {
        if !amount.is_constant() {
            return None;
        }
        let width = u64::from(high.width());
        let amount = amount.bits % width;
        let (up, down) = if left { (amount, width - amount) } else { (width - amount, amount) };
        if amount == 0 {
            return Some(if left { high } else { low });
        }
        let expressions = &mut self.world.expressions;
        let upper = expressions.binary(Func::BvShl, high, Word::constant(high.width(), up));
        let lower = expressions.binary(Func::BvLshr, low, Word::constant(low.width(), down));
        Some(expressions.binary(Func::BvOr, upper, lower))
    }

    /// Arithmetic that also says whether it overflowed: the value and a bit.
    fn with_overflow(&mut self, name: &str, parts: &[Type], values: &[Value]) -> Value {
        let width = parts.first().map_or(0, Type::bits);
        let (Some(Value::Word(a)), Some(Value::Word(b))) = (values.first(), values.get(1)) else {
            return Value::Untracked;
        };
        let (a, b) = (*a, *b);
        let func = match name.trim_end_matches(".with.overflow") {
            "sadd" | "uadd" => Func::BvAdd,
            "ssub" | "usub" => Func::BvSub,
            "smul" | "umul" => Func::BvMul,
            _ => return Value::Untracked,
        };
        if width == 0 || width > 64 || !(a.is_known() && b.is_known()) {
            return Value::Untracked;
        }
        let result = self.world.expressions.binary(func, a, b);
        let overflow = self.overflow(name.starts_with('s'), func, a, b, result);
        Value::Aggregate([Value::Word(result), Value::Word(overflow)].into())
    }

    fn overflow(&mut self, is_signed: bool, func: Func, a: Word, b: Word, result: Word) -> Word {
        let zero = Word::constant(a.width(), 0);
        match (is_signed, func) {
            (false, Func::BvAdd) => self.world.expressions.compare(Func::BvUlt, result, a),
            (false, Func::BvSub) => self.world.expressions.compare(Func::BvUlt, a, b),
            // The result's sign differs from that of both operands (of the first one and of the second's opposite).
            (true, Func::BvAdd | Func::BvSub) => {
                let expressions = &mut self.world.expressions;
                let changed = expressions.binary(Func::BvXor, result, a);
                let other = if func == Func::BvAdd { result } else { a };
                let against = expressions.binary(Func::BvXor, other, b);
                let both = expressions.binary(Func::BvAnd, changed, against);
                expressions.compare(Func::BvSlt, both, zero)
            }
            _ => self.product_overflow(is_signed, a, b),
        }
    }

    /// Whether a product overflows: for this pair of operands, which are fixed.
    fn product_overflow(&mut self, is_signed: bool, a: Word, b: Word) -> Word {
        let (a, b) = (self.pin(a, "overflow of a product"), self.pin(b, "overflow of a product"));
        let overflows = if is_signed {
            let wide = |word: Word| i128::from(crate::value::signed(word.width(), word.bits));
            let product = wide(a) * wide(b);
            let limit = 1i128 << (a.width() - 1);
            !(-limit..limit).contains(&product)
        } else {
            u128::from(a.bits) * u128::from(b.bits) > u128::from(mask(a.width()))
        };
        Word::constant(1, u64::from(overflows))
    }
}

/// `umin` of `llvm.umin.i32`.
fn base_name(name: &str) -> &str {
    let mut base = name.strip_prefix("llvm.").unwrap_or(name);
    while let Some((front, suffix)) = base.rsplit_once('.') {
        let kind = suffix.trim_end_matches(|c: char| c.is_ascii_digit());
        if !matches!(kind, "i" | "p" | "f") || kind.len() == suffix.len() {
            break;
        }
        base = front;
    }
    base
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_not_part_of_the_name() {
        assert_eq!(base_name("llvm.umin.i32"), "umin");
        assert_eq!(base_name("llvm.sadd.with.overflow.i64"), "sadd.with.overflow");
        assert_eq!(base_name("llvm.threadlocal.address.p0"), "threadlocal.address");
        assert_eq!(base_name("llvm.va_start.p0"), "va_start");
    }
}
