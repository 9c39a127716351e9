//! Interned strings: local names, source positions, labels.

use crate::ids::NameId;
use crate::interner::{Positions, hash_of};
use crate::printable::printable;
use crate::users::Users;
use std::borrow::Cow;

/// Interned strings.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// All of them, one after the other.
    text: String,
    /// Where each ends.
    ends: Vec<usize>,
    /// All but those in `numbered`.
    positions: Positions,
    /// Those that are a base and a number, by the number.
    numbered: Users,
    /// Whether one of the others looks like such a name.
    has_numbers: bool,
}

impl Names {
    /// The id of `text`, now or from before.
    pub fn intern(&mut self, text: &str) -> NameId {
        let hash = hash_of(text);
        self.find_hashed(hash, text).unwrap_or_else(|| {
            self.has_numbers |= split_number(text).is_some();
            self.positions.insert(hash, self.ends.len());
            self.text.push_str(text);
            self.add()
        })
    }

    /// The id of a base and a number with a dot between them: `total.17`. Numbers that grow as names come are fast.
    pub fn intern_numbered(&mut self, base: &str, number: u64) -> NameId {
        let position = self.ends.len();
        if let Some(known) = self.find_numbered(base, number) {
            return known;
        }
        if self.has_numbers || number > position as u64 {
            return self.intern(&format!("{base}.{number}"));
        }
        self.numbered.insert(number as usize, position, || hash_of(&(base, number)));
        self.text.push_str(base);
        self.text.push('.');
        push_number(&mut self.text, number);
        self.add()
    }

    /// A name whose text is there.
    fn add(&mut self) -> NameId {
        self.ends.push(self.text.len());
        NameId::from_index(self.ends.len() - 1)
    }

    fn find_numbered(&self, base: &str, number: u64) -> Option<NameId> {
        let is_it = |position: usize| {
            let text = self.at(position); // ends with a dot and the number
            text.strip_prefix(base).is_some_and(|rest| rest.rfind('.') == Some(0))
        };
        let number_at = usize::try_from(number).ok()?;
        self.numbered.find(number_at, || hash_of(&(base, number)), is_it).map(NameId::from_index)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text of an id that this interner gave.
    pub fn text(&self, name: NameId) -> &str {
        self.at(name.index())
    }

    /// The id of `text` if it was interned.
    pub fn find(&self, text: &str) -> Option<NameId> {
        self.find_hashed(hash_of(text), text)
    }

    fn find_hashed(&self, hash: u64, text: &str) -> Option<NameId> {
        let position = self.positions.find(hash, |position| self.at(position) == text);
        let numbered = || split_number(text).and_then(|(base, number)| self.find_numbered(base, number));
        position.map(NameId::from_index).or_else(numbered)
    }

    /// Puts a mark in place of each control character. Texts that differ in those alone are then equal, with ids of their own.
    pub fn make_printable(&mut self) {
        if let Cow::Owned(clean) = printable(&self.text) {
            self.text = clean;
        }
    }

    fn at(&self, position: usize) -> &str {
        let start = position.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[position]]
    }
}

/// `total` and 17 of `total.17`.
fn split_number(text: &str) -> Option<(&str, u64)> {
    let (base, digits) = text.rsplit_once('.')?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    Some((base, digits.parse().ok().filter(|_| is_number)?))
}

/// Formatting by the library takes several times as long, and each read of a recorded program has a name with a number.
fn push_number(text: &mut String, mut number: u64) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    while number > 0 || first == digits.len() {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    text.extend(digits[first..].iter().map(|digit| char::from(*digit)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_one_id() {
        let mut names = Names::default();
        let first = names.intern("a.c:3:5");
        let mut ids = vec![first];
        for (base, number) in [("r", 1), ("r", 2), ("sum.1", 2), ("sum", 2), ("r", 3), ("far", 900), ("r", 0)] {
            let id = names.intern_numbered(base, number);
            let text = format!("{base}.{number}");
            assert_eq!((names.text(id), names.find(&text)), (&*text, Some(id)));
            assert_eq!(names.intern(&text), id);
            assert_eq!(names.intern_numbered(base, number), id);
            assert!(!ids.contains(&id), "{text}");
            ids.push(id);
        }
        let label = names.intern("label.9");
        assert_eq!(names.intern_numbered("label", 9), label);
        assert_eq!([names.find("r.01"), names.find("r."), names.find("sum.3")], [None; 3]);
        assert_eq!(names.intern("a.c:3:5"), first);
    }
}
