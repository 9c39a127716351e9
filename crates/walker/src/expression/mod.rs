//! Terms of words: made during execution, with simple simplifications that keep traces readable.

mod conditions;
mod literals;

use crate::value::{Word, binary, mask, signed};
use dashu_int::UBig;
use foretrace_trace::{EventId, Func, Local, Node, Sort, TermId, Terms, Value};
use literals::Literals;

/// The arena of terms, and how words are computed.
#[derive(Default)]
pub(crate) struct Expressions {
    /// All terms made so far.
    pub terms: Terms<Local>,
    /// Literals that were asked for last.
    literals: Literals,
    /// Events that the trace has so far, but for conditions: a loop that computes has one in each turn.
    pub events: usize,
}

/// So many terms may be made of any trace, which take a few hundred megabytes, and so many more for each of its events.
const MOST_TERMS: usize = 1 << 22;
const TERMS_OF_EVENT: usize = 64;

impl Expressions {
    /// Whether what only computes may make more terms: the more events, the more.
    pub fn has_room(&self) -> bool {
        self.terms.len() < MOST_TERMS + TERMS_OF_EVENT * self.events
    }

    /// The name that stands for what this event defines; asked for once.
    pub fn local(&mut self, definition: EventId, width: u32) -> TermId {
        self.terms.append_leaf(Local { definition, sort: Sort::BitVec(width) })
    }

    /// A word of bits as a literal, also for one bit.
    pub fn literal(&mut self, width: u32, bits: u64) -> TermId {
        let bits = bits & mask(width);
        let make = || self.terms.constant(Value::BitVec { width, bits: UBig::from(bits) });
        self.literals.find(width, bits, make)
    }

    fn truth(&mut self, value: bool) -> TermId {
        self.terms.constant(Value::Bool(value))
    }

    /// The word as a term.
    pub fn term(&mut self, word: Word) -> TermId {
        match word.term {
            Some(term) if word.added == 0 => term,
            Some(term) => self.plus(term, word.width(), word.added),
            None if word.width() == 1 => self.truth(word.bits != 0),
            None => self.literal(word.width(), word.bits),
        }
    }

    /// The same word with nothing to be added to its term.
    #[inline]
    pub fn whole(&mut self, word: Word) -> Word {
        match word.term {
            Some(term) if word.added != 0 => {
                Word { term: Some(self.plus(term, word.width(), word.added)), added: 0, ..word }
            }
            _ => word,
        }
    }

    /// An application that is well-sorted by construction.
    fn app(&mut self, func: Func, args: &[TermId]) -> TermId {
        self.terms.app(func, args).expect("words of equal widths")
    }

    /// The bits of a literal.
    pub fn bits(&self, term: TermId) -> Option<u64> {
        match self.terms.as_const(term)? {
            Value::BitVec { bits, .. } => u64::try_from(bits).ok(),
            Value::Bool(truth) => Some(u64::from(*truth)),
            Value::Int(_) => None,
        }
    }

    /// An event that a term mentions, if any: all that it mentions are of one thread.
    pub fn any_leaf(&self, term: TermId) -> Option<EventId> {
        let mut open = vec![term];
        while let Some(term) = open.pop() {
            match self.terms.node(term) {
                Node::Leaf(local) => return Some(local.definition),
                Node::Const(_) => {}
                Node::App(_, args) => open.extend(args.iter()),
            }
        }
        None
    }

    /// A function of two words of equal width, to a word of that width.
    #[inline]
    pub fn binary(&mut self, func: Func, a: Word, b: Word) -> Word {
        if !(a.is_known() && b.is_known()) {
            return Word::unknown(a.width());
        }
        let Some(bits) = binary(func, a.width(), a.bits, b.bits) else { return Word::unknown(a.width()) };
        let result = Word::new(a.width(), bits, None);
        match (a.term, b.term) {
            (None, None) => result,
            _ => self.binary_of_terms(func, a, b, result),
        }
    }

    #[inline(never)]
    fn binary_of_terms(&mut self, func: Func, a: Word, b: Word, result: Word) -> Word {
        if let Some(sum) = self.sum(func, a, b, result) {
            return sum;
        }
        let (a, b) = (self.whole(a), self.whole(b));
        let term = if a.width() == 1 { self.binary_of_bits(func, a, b) } else { self.binary_term(func, a, b) };
        Word { term: self.unless_literal(term), ..result }
    }

    /// A word and a constant that is added or taken away: no term is made for that now.
    fn sum(&self, func: Func, a: Word, b: Word, result: Word) -> Option<Word> {
        let (word, added) = match (func, a.term, b.term) {
            (Func::BvAdd, Some(_), None) => (a, b.bits),
            (Func::BvAdd, None, Some(_)) => (b, a.bits),
            (Func::BvSub, Some(_), None) => (a, b.bits.wrapping_neg()),
            _ => return None,
        };
        let (term, before) = self.split_sum(word.term.filter(|_| word.width() > 1)?, word.width());
        let added = word.added.wrapping_add(before).wrapping_add(added) & mask(word.width());
        Some(Word { term: Some(term), added, ..result })
    }

    fn unless_literal(&self, term: TermId) -> Option<TermId> {
        self.terms.as_const(term).is_none().then_some(term)
    }

    fn binary_term(&mut self, func: Func, a: Word, b: Word) -> TermId {
        let ones = mask(a.width());
        let (constant, other) = match (a.term, b.term) {
            (None, Some(term))
                if !matches!(func, Func::BvAdd | Func::BvMul | Func::BvAnd | Func::BvOr | Func::BvXor) =>
            {
                let left = self.term(a);
                return self.app(func, &[left, term]);
            }
            (None, Some(term)) => (a.bits, term),
            (Some(term), None) => (b.bits, term),
            _ => {
                let args = [self.term(a), self.term(b)];
                return if func == Func::BvXor && args[0] == args[1] {
                    self.literal(a.width(), 0)
                } else {
                    self.app(func, &args)
                };
            }
        };
        match (func, constant) {
            (Func::BvMul | Func::BvUdiv | Func::BvSdiv, 1) => other,
            (Func::BvShl | Func::BvLshr | Func::BvAshr | Func::BvOr | Func::BvXor, 0) => other,
            (Func::BvMul | Func::BvAnd, 0) => self.literal(a.width(), 0),
            (Func::BvAnd, c) if c == ones => other,
            (Func::BvAnd, c) => self.masked(other, a.width(), c),
            _ => {
                let args = [self.term(a), self.term(b)];
                self.app(func, &args)
            }
        }
    }

    /// A term and the constant that is added to it.
    fn split_sum(&self, term: TermId, width: u32) -> (TermId, u64) {
        if let Node::App(func @ (Func::BvAdd | Func::BvSub), args) = self.terms.node(term)
            && let [base, constant] = args[..]
            && let Some(constant) = self.bits(constant)
        {
            let added = if *func == Func::BvAdd { constant } else { constant.wrapping_neg() };
            return (base, added & mask(width));
        }
        (term, 0)
    }

    /// `term + constant`, the constants of a chain of sums in one.
    fn plus(&mut self, term: TermId, width: u32, constant: u64) -> TermId {
        let (base, before) = self.split_sum(term, width);
        let sum = before.wrapping_add(constant) & mask(width);
        let amount = signed(width, sum);
        let func = if amount < 0 { Func::BvSub } else { Func::BvAdd };
        if amount == 0 {
            return base;
        }
        let amount = self.literal(width, amount.unsigned_abs());
        self.app(func, &[base, amount])
    }

    /// The bits of a term that a constant has set; masks of masks are one.
    fn masked(&mut self, term: TermId, width: u32, mask: u64) -> TermId {
        let (mut term, mut mask) = (term, mask);
        if let Node::App(Func::BvAnd, args) = self.terms.node(term)
            && let [inner, before] = args[..]
            && let Some(before) = self.bits(before)
        {
            (term, mask) = (inner, mask & before);
        }
        let mask = self.literal(width, mask);
        self.app(Func::BvAnd, &[term, mask])
    }

    /// Operations on single bits, as truth values where they are such.
    fn binary_of_bits(&mut self, func: Func, a: Word, b: Word) -> TermId {
        let args = [self.term(a), self.term(b)];
        let connective = match func {
            Func::BvAnd | Func::BvMul => Func::And,
            Func::BvOr => Func::Or,
            Func::BvXor | Func::BvAdd | Func::BvSub => Func::Xor,
            _ => {
                let args = args.map(|arg| self.bit(arg));
                let result = self.app(func, &args);
                return self.is_one(result);
            }
        };
        let constant = [a, b].iter().find(|word| word.term.is_none()).map(|word| word.bits != 0);
        let other = a.term.or(b.term).unwrap_or(args[0]);
        match (connective, constant) {
            (Func::And, Some(false)) | (Func::Or, Some(true)) => self.truth(connective == Func::Or),
            (Func::And, Some(true)) | (Func::Or | Func::Xor, Some(false)) => other,
            (Func::Xor, Some(true)) => self.not(other),
            _ => self.app(connective, &args),
        }
    }

    /// A truth value as a word of one bit.
    fn bit(&mut self, truth: TermId) -> TermId {
        let (one, zero) = (self.literal(1, 1), self.literal(1, 0));
        self.app(Func::Ite, &[truth, one, zero])
    }

    /// A word of one bit as a truth value.
    fn is_one(&mut self, bit: TermId) -> TermId {
        let one = self.literal(1, 1);
        self.app(Func::Eq, &[bit, one])
    }

    /// One of two words by a bit.
    pub fn select(&mut self, condition: Word, yes: Word, no: Word) -> Word {
        if !condition.is_known() {
            return Word::unknown(yes.width());
        }
        let chosen = if condition.bits != 0 { yes } else { no };
        let Some(test) = condition.term else { return chosen };
        if !(yes.is_known() && no.is_known()) {
            return chosen.fixed();
        }
        let (a, b) = (self.term(yes), self.term(no));
        let term = if a == b { a } else { self.app(Func::Ite, &[test, a, b]) };
        Word { term: self.unless_literal(term), ..chosen.fixed() }
    }

    /// The low bits of a word.
    #[inline]
    pub fn truncate(&mut self, word: Word, width: u32) -> Word {
        if !word.is_known() || width > word.width() {
            return Word::unknown(width);
        }
        if width == word.width() {
            return word;
        }
        let word = self.whole(word);
        let term = word.term.map(|term| if word.width() == 1 { term } else { self.extract_to(term, 0, width) });
        Word { term: term.and_then(|term| self.unless_literal(term)), ..Word::constant(width, word.bits) }
    }

    /// The bits from `low` on of a term of sort BitVec; one bit is a truth value.
    pub fn extract_to(&mut self, term: TermId, low: u32, width: u32) -> TermId {
        let part = self.extract(term, low, width);
        if width > 1 {
            return part;
        }
        if let Node::App(Func::Ite, args) = self.terms.node(part) {
            let args = args.clone();
            if (self.bits(args[1]), self.bits(args[2])) == (Some(1), Some(0)) {
                return args[0];
            }
        }
        match self.bits(part) {
            Some(bit) => self.truth(bit != 0),
            None => self.is_one(part),
        }
    }

    /// The bits from `low` on of a term of sort BitVec.
    fn extract(&mut self, term: TermId, low: u32, width: u32) -> TermId {
        let Sort::BitVec(whole) = self.terms.sort(term) else { return term };
        if low == 0 && width == whole {
            return term;
        }
        if let Some(bits) = self.bits(term) {
            return self.literal(width, bits >> low);
        }
        let Node::App(func, args) = self.terms.node(term) else {
            return self.app(Func::Extract { high: low + width - 1, low }, &[term]);
        };
        let (func, args) = (*func, args.clone());
        let inner = self.terms.sort(args[0]);
        match (func, inner) {
            (Func::Extract { low: below, .. }, _) => self.extract(args[0], low + below, width),
            (Func::ZeroExtend(_) | Func::SignExtend(_), Sort::BitVec(inner)) if low + width <= inner => {
                self.extract(args[0], low, width)
            }
            (Func::ZeroExtend(_), Sort::BitVec(inner)) if low >= inner => self.literal(width, 0),
            (Func::Concat, _) => self.extract_of_concat(term, &args, low, width),
            (Func::Ite, _) if self.bits(args[1]).is_some() && self.bits(args[2]).is_some() => {
                let (yes, no) = (self.extract(args[1], low, width), self.extract(args[2], low, width));
                if yes == no { yes } else { self.app(Func::Ite, &[args[0], yes, no]) }
            }
            _ => self.app(Func::Extract { high: low + width - 1, low }, &[term]),
        }
    }

    /// Within one part of a concat, the bits of that part.
    fn extract_of_concat(&mut self, term: TermId, args: &[TermId], low: u32, width: u32) -> TermId {
        let mut start = 0;
        for arg in args.iter().rev() {
            let Sort::BitVec(size) = self.terms.sort(*arg) else { break };
            if low >= start && low + width <= start + size {
                return self.extract(*arg, low - start, width);
            }
            start += size;
        }
        self.app(Func::Extract { high: low + width - 1, low }, &[term])
    }

    /// Parts from low to high bits as one term.
    pub fn concat(&mut self, parts: &[TermId]) -> TermId {
        match parts {
            [one] => *one,
            _ => {
                let from_high: Vec<TermId> = parts.iter().rev().copied().collect();
                self.app(Func::Concat, &from_high)
            }
        }
    }

    /// A wider word with the same unsigned value.
    #[inline]
    pub fn zero_extend(&mut self, word: Word, width: u32) -> Word {
        self.extend(word, width, Func::ZeroExtend)
    }

    /// A wider word with the same signed value.
    #[inline]
    pub fn sign_extend(&mut self, word: Word, width: u32) -> Word {
        self.extend(word, width, Func::SignExtend)
    }

    #[inline]
    fn extend(&mut self, word: Word, width: u32, by: fn(u32) -> Func) -> Word {
        if width <= word.width() {
            return self.truncate(word, width);
        }
        if !word.is_known() {
            return Word::unknown(width);
        }
        let keeps_sign = by(1) == Func::SignExtend(1);
        let bits = if keeps_sign { signed(word.width(), word.bits) as u64 } else { word.bits };
        let result = Word::constant(width, bits);
        match self.whole(word).term {
            Some(term) => self.extend_term(term, word.width(), result, by),
            None => result,
        }
    }

    /// The term of `from` bits, made wider, stands for `result`.
    fn extend_term(&mut self, term: TermId, from: u32, result: Word, by: fn(u32) -> Func) -> Word {
        let (width, keeps_sign) = (result.width(), by(1) == Func::SignExtend(1));
        if from == 1 {
            let (set, clear) = (self.literal(width, if keeps_sign { u64::MAX } else { 1 }), self.literal(width, 0));
            return Word { term: Some(self.app(Func::Ite, &[term, set, clear])), ..result };
        }
        let mut inner = (term, width - from);
        if let Node::App(func, args) = self.terms.node(term)
            && let Func::ZeroExtend(before) | Func::SignExtend(before) = *func
            && *func == by(before)
        {
            inner = (args[0], inner.1 + before);
        }
        Word { term: Some(self.app(by(inner.1), &[inner.0])), ..result }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(e: &mut Expressions, width: u32, bits: u64) -> Word {
        let term = e.local(EventId(0), width);
        Word { term: Some(term), ..Word::constant(width, bits) }
    }

    #[test]
    fn sums_and_casts_fold() {
        let mut e = Expressions::default();
        let x = read(&mut e, 32, 5);
        let one = Word::constant(32, 1);
        let up = e.binary(Func::BvAdd, x, one);
        assert_eq!(e.binary(Func::BvSub, up, one), x);
        let wide = e.sign_extend(x, 64);
        assert_eq!(e.truncate(wide, 32), x);
        let is_five = e.compare(Func::Eq, x, Word::constant(32, 5));
        let as_int = e.zero_extend(is_five, 32);
        assert_eq!(e.compare(Func::Distinct, as_int, Word::constant(32, 0)), is_five);
        assert_eq!(e.truncate(as_int, 1), is_five);
    }

    #[test]
    fn an_index_is_pinned_not_the_address() {
        let mut e = Expressions::default();
        let index = read(&mut e, 32, 3);
        let wide = e.sign_extend(index, 64);
        let scaled = e.binary(Func::BvMul, wide, Word::constant(64, 4));
        let address = e.binary(Func::BvAdd, scaled, Word::constant(64, 0x4000));
        let expected = e.compare(Func::Eq, index, Word::constant(32, 3)).term;
        assert_eq!(e.pin(address), expected);
        assert_eq!(e.pin(Word::constant(64, 1)), None);
    }

    #[test]
    fn parts_of_a_concat_are_its_parts() {
        let mut e = Expressions::default();
        let low = read(&mut e, 16, 1).term.unwrap();
        let high = e.local(EventId(1), 16);
        let whole = e.concat(&[low, high]);
        assert_eq!(e.extract_to(whole, 16, 16), high);
        assert_eq!(e.extract_to(whole, 0, 16), low);
    }
}
