//! Terms that are conditions: comparisons, their opposites, what a word has to be.

use super::Expressions;
use crate::value::{Word, apply, mask, signed};
use foretrace_trace::{Func, Node, Sort, TermId};

impl Expressions {
    /// The opposite of a truth value.
    pub fn not(&mut self, truth: TermId) -> TermId {
        match self.terms.node(truth) {
            Node::App(Func::Not, args) => args[0],
            Node::App(func, args) if args.len() == 2 && opposite(*func).is_some() => {
                let (func, args) = (opposite(*func).unwrap_or(Func::Not), args.clone());
                self.app(func, &args)
            }
            _ => self.app(Func::Not, &[truth]),
        }
    }

    /// A comparison of two words of equal width, to one bit.
    #[inline(always)]
    pub fn compare(&mut self, func: Func, a: Word, b: Word) -> Word {
        let Some(bits) = apply(func, a.width(), a.bits, b.bits).filter(|_| a.is_known() && b.is_known()) else {
            return Word::unknown(1);
        };
        let result = Word::new(1, bits, None);
        match (a.term, b.term) {
            (None, None) => result,
            _ => self.compare_terms(func, a, b, result),
        }
    }

    #[inline(never)]
    fn compare_terms(&mut self, func: Func, a: Word, b: Word, result: Word) -> Word {
        if let (Func::Eq | Func::Distinct, Some(term)) = (func, self.equals_simply(a, b)) {
            let term = if func == Func::Distinct { self.not(term) } else { term };
            return Word { term: self.unless_literal(term), ..result };
        }
        let mut args = [self.term(a), self.term(b)];
        if a.width() == 1 && !matches!(func, Func::Eq | Func::Distinct) {
            args = args.map(|arg| self.bit(arg));
        }
        Word { term: Some(self.app(func, &args)), ..result }
    }

    /// Equality with a constant where a simpler term says the same.
    fn equals_simply(&mut self, a: Word, b: Word) -> Option<TermId> {
        let (word, constant) = match (a.term, b.term) {
            (Some(_), None) => (a, b.bits),
            (None, Some(_)) => (b, a.bits),
            _ => return None,
        };
        let term = word.term?;
        if word.added != 0 {
            let constant = self.literal(word.width(), constant.wrapping_sub(word.added));
            return Some(self.app(Func::Eq, &[term, constant]));
        }
        if a.width() == 1 {
            return Some(if constant == 0 { self.not(term) } else { term });
        }
        let (func, args) = match self.terms.node(term) {
            Node::App(func, args) => (*func, args.clone()),
            _ => return None,
        };
        match func {
            Func::Ite => {
                let (yes, no) = (self.bits(args[1])?, self.bits(args[2])?);
                match (yes == constant, no == constant) {
                    (true, false) => Some(args[0]),
                    (false, true) => Some(self.not(args[0])),
                    (same, _) => Some(self.truth(same)),
                }
            }
            Func::ZeroExtend(_) => {
                let Sort::BitVec(inner) = self.terms.sort(args[0]) else { return None };
                if constant > mask(inner) {
                    return Some(self.truth(false));
                }
                let (a, b) = (Word::new(inner, 0, Some(args[0])), Word::constant(inner, constant));
                let simpler = self.equals_simply(a, b);
                let constant = self.literal(inner, constant);
                Some(simpler.unwrap_or_else(|| self.app(Func::Eq, &[args[0], constant])))
            }
            Func::BvAdd | Func::BvSub => {
                let (base, added) = self.split_sum(term, a.width());
                let constant = self.literal(a.width(), constant.wrapping_sub(added));
                (base != term).then(|| self.app(Func::Eq, &[base, constant]))
            }
            _ => None,
        }
    }

    /// The condition under which a word is what it is, as simple as it can be said; nothing if it is a constant.
    pub fn pin(&mut self, word: Word) -> Option<TermId> {
        let mut term = word.term?;
        if word.width() == 1 {
            return Some(if word.bits != 0 { term } else { self.not(term) });
        }
        let (mut bits, mut width) = (word.bits.wrapping_sub(word.added) & mask(word.width()), word.width());
        while let Some((inner, inner_bits)) = self.injective_argument(term, bits, width) {
            let Sort::BitVec(inner_width) = self.terms.sort(inner) else { break };
            (term, bits, width) = (inner, inner_bits, inner_width);
        }
        let word = Word::new(width, bits, Some(term));
        let pinned = self.compare(Func::Eq, word, Word::constant(width, bits));
        pinned.term
    }

    /// Of a term that no two arguments make equal: the argument, and what it is where the term has these bits.
    fn injective_argument(&self, term: TermId, bits: u64, width: u32) -> Option<(TermId, u64)> {
        let Node::App(func, args) = self.terms.node(term) else { return None };
        let inner_width = match self.terms.sort(*args.first()?) {
            Sort::BitVec(inner) => inner,
            _ => return None,
        };
        match func {
            Func::BvAdd | Func::BvSub => {
                let (base, added) = self.split_sum(term, width);
                (base != term).then(|| (base, bits.wrapping_sub(added) & mask(width)))
            }
            Func::ZeroExtend(_) | Func::SignExtend(_) => Some((args[0], bits & mask(inner_width))),
            Func::BvMul => {
                let factor = self.bits(args[1]).filter(|factor| *factor != 0)?;
                let Node::App(Func::ZeroExtend(spare) | Func::SignExtend(spare), _) = self.terms.node(args[0]) else {
                    return None;
                };
                let fits = factor <= mask((*spare).min(62));
                fits.then(|| (args[0], (signed(width, bits) / factor as i64) as u64 & mask(width)))
            }
            _ => None,
        }
    }
}

/// The comparison that holds where this one does not.
fn opposite(func: Func) -> Option<Func> {
    Some(match func {
        Func::Eq => Func::Distinct,
        Func::Distinct => Func::Eq,
        Func::BvUlt => Func::BvUge,
        Func::BvUge => Func::BvUlt,
        Func::BvUle => Func::BvUgt,
        Func::BvUgt => Func::BvUle,
        Func::BvSlt => Func::BvSge,
        Func::BvSge => Func::BvSlt,
        Func::BvSle => Func::BvSgt,
        Func::BvSgt => Func::BvSle,
        _ => return None,
    })
}
