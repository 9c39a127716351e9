//! The arguments of a term. A few arguments, the usual case, need no separate allocation.

use crate::ids::TermId;
use std::ops::Deref;

/// The arguments of an application.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Arguments(Kept);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Kept {
    One([TermId; 1]),
    Two([TermId; 2]),
    Three([TermId; 3]),
    /// Any other number. The box in a box is no larger than three.
    #[allow(clippy::box_collection, reason = "a slice's box is twice as large")]
    Any(Box<Vec<TermId>>),
}

impl From<&[TermId]> for Arguments {
    fn from(args: &[TermId]) -> Arguments {
        Arguments(match *args {
            [a] => Kept::One([a]),
            [a, b] => Kept::Two([a, b]),
            [a, b, c] => Kept::Three([a, b, c]),
            _ => Kept::Any(Box::new(args.to_vec())),
        })
    }
}

impl Arguments {
    /// Others in their places.
    pub fn map(&self, mut other: impl FnMut(TermId) -> TermId) -> Arguments {
        Arguments(match &self.0 {
            Kept::One(args) => Kept::One(args.map(other)),
            Kept::Two(args) => Kept::Two(args.map(other)),
            Kept::Three(args) => Kept::Three(args.map(other)),
            Kept::Any(args) => Kept::Any(Box::new(args.iter().map(|arg| other(*arg)).collect())),
        })
    }
}

impl Deref for Arguments {
    type Target = [TermId];

    #[inline]
    fn deref(&self) -> &[TermId] {
        match &self.0 {
            Kept::One(args) => args,
            Kept::Two(args) => args,
            Kept::Three(args) => args,
            Kept::Any(args) => args,
        }
    }
}

impl<'a> IntoIterator for &'a Arguments {
    type Item = &'a TermId;
    type IntoIter = std::slice::Iter<'a, TermId>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
