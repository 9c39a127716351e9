//! Applications by their arguments: those that have the same ones are found among the users of the newest.
//!
//! Most terms are made soon after their arguments, and most are arguments of few others. So each term has a short chain of
//! those that use it, which is close at hand, and only what is too much for that is hashed.

use crate::interner::Positions;

/// Per term which applications it is the newest argument of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Users {
    chains: Vec<Chain>,
    /// What chains have no room for.
    others: Positions,
}

/// Positions plus one, 0 where there is none.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    /// The last user that came into the chain.
    first: u32,
    /// The one that came before this term into the chain that it is in.
    next: u32,
    length: u32,
}

/// Longest chain.
const MOST: u32 = 8;

impl Users {
    /// The user of `newest` that `is` is true of.
    #[inline]
    pub fn find(&self, newest: usize, hash: impl FnOnce() -> u64, is: impl Fn(usize) -> bool) -> Option<usize> {
        let chain = self.chains.get(newest)?;
        let mut user = chain.first;
        while let Some(position) = user.checked_sub(1) {
            if is(position as usize) {
                return Some(position as usize);
            }
            user = self.chains[position as usize].next;
        }
        if chain.length < MOST { None } else { self.others.find(hash(), is) }
    }

    /// The term at `position` is a user of `newest`, which lies before it, that was not there.
    #[inline]
    pub fn insert(&mut self, newest: usize, position: usize, hash: impl FnOnce() -> u64) {
        if self.chains.len() <= position {
            self.chains.resize(position + 1, Chain::default());
        }
        let chain = &mut self.chains[newest];
        if chain.length == MOST {
            return self.others.insert(hash(), position);
        }
        let number = u32::try_from(position + 1).expect("fewer than 2^32 terms");
        let before = std::mem::replace(&mut chain.first, number);
        chain.length += 1;
        self.chains[position].next = before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Terms are numbers that stand for themselves; one in three is a user of the term that many places before it.
        #[test]
        fn each_user_is_found_by_its_newest_argument(terms in prop::collection::vec((0..3u8, 1..6usize, 0..40u64), 1..300)) {
            let mut users = Users::default();
            let mut all: Vec<Option<(usize, u64)>> = Vec::new(); // newest argument, the rest of what it is
            for (kind, back, rest) in terms {
                let position = all.len();
                let newest = position / back / 4;
                if kind > 0 || newest >= position {
                    all.push(None);
                    continue;
                }
                let is = |other: usize| all[other] == Some((newest, rest));
                let expected = all.iter().position(|other| *other == Some((newest, rest)));
                prop_assert_eq!(users.find(newest, || rest, is), expected);
                if expected.is_none() {
                    users.insert(newest, position, || rest);
                    all.push(Some((newest, rest)));
                }
            }
        }
    }
}
