//! The actions of steps on shared objects, and which two actions depend on each other.
//!
//! [`Mode::relation`] is the one definition. Explorations use it as it is. Witnesses are shortened by the same relation of
//! [coarser modes](Mode::coarse). The exhaustive oracles use neither.

use std::sync::Arc;

/// How a step uses an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// Reads a variable.
    Read,
    /// Writes a variable, or reads and writes it in one step.
    Write,
    /// Reads a part of a variable; the part is an object, too.
    ReadPart,
    /// Writes a part of a variable; the part is an object, too.
    WritePart,
    /// Takes a lock.
    Take,
    /// Gives a lock back.
    Give,
    /// Shares a lock.
    TakeShared,
    /// Gives a share of a lock back.
    GiveShared,
    /// Takes a lock, and would go on without it if it were held.
    TryTake,
    /// Shares a lock, and would go on without it.
    TryTakeShared,
    /// Finds a lock held.
    Busy,
    /// Counts up.
    Post,
    /// Counts down.
    Down,
    /// Comes to a round of a barrier whose parties are known.
    Arrive,
    /// Leaves it.
    Depart,
    /// Begins an operation on a concurrent object.
    Call,
    /// Ends one. Which operations ended before another began is the real-time order that linearizability is about.
    Return,
    /// Anything: depends on every other use of the object.
    Any,
}

/// What the order of two uses of one object means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// Nothing: both orders lead to the same state.
    Independent,
    /// It matters, and where one order happens the other cannot: the two are never enabled in one state.
    Ordered,
    /// It matters, and the other order may happen, too.
    Race,
}

impl Mode {
    /// The mode where only reads are told apart from all else. Coarse modes depend on each other wherever the modes do, and a use then depends
    /// on the latest change and the reads since, whatever the object is.
    #[inline]
    pub fn coarse(self) -> Mode {
        if self == Mode::Read { Mode::Read } else { Mode::Any }
    }

    /// What the order of two uses of one object means.
    pub fn relation(self, other: Mode) -> Relation {
        use Mode::*;
        match (self, other) {
            (Read, Read) | (Post, Post) | (Arrive, Arrive) | (Depart, Depart) | (Busy, Busy) => Relation::Independent,
            (Call, Call) | (Return, Return) => Relation::Independent,
            (TakeShared | TryTakeShared | GiveShared, TakeShared | TryTakeShared | GiveShared) => Relation::Independent,
            (ReadPart | WritePart, ReadPart | WritePart) => Relation::Independent,
            (Read, ReadPart) | (ReadPart, Read) => Relation::Independent,
            (Take | TakeShared, Take | TakeShared) => Relation::Race,
            (Take | Give | TakeShared | GiveShared, Take | Give | TakeShared | GiveShared) => Relation::Ordered,
            (Arrive, Depart) | (Depart, Arrive) => Relation::Ordered,
            _ => Relation::Race,
        }
    }
}

/// One use of an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Use {
    /// The object's number.
    pub object: u32,
    /// How it is used.
    pub mode: Mode,
}

/// What a step does, as far as other threads can tell.
#[derive(Clone, Debug)]
pub struct Action {
    /// The objects that it uses.
    pub uses: Arc<[Use]>,
    /// The thread that it starts.
    pub starts: Option<usize>,
    /// The thread whose end it waits for.
    pub joins: Option<usize>,
    /// Whether no thread can take a step after it.
    pub ends_all: bool,
    /// Whether the values of variables can keep it from happening.
    pub asks_values: bool,
    /// In how many ways it can turn out; at least 1.
    pub choices: usize,
}

impl Action {
    /// An action with these uses.
    pub fn new(uses: Arc<[Use]>) -> Action {
        Action { uses, starts: None, joins: None, ends_all: false, asks_values: false, choices: 1 }
    }

    /// What the order of this and another thread's action means.
    pub fn relation(&self, other: &Action) -> Relation {
        let mut found = Relation::Independent;
        for own in self.uses.iter() {
            for theirs in other.uses.iter().filter(|theirs| theirs.object == own.object) {
                match own.mode.relation(theirs.mode) {
                    Relation::Race => return Relation::Race,
                    Relation::Ordered => found = Relation::Ordered,
                    Relation::Independent => {}
                }
            }
        }
        found
    }

    /// Whether this can surely take place before a step that races with it, where nothing comes between but what does not
    /// depend on that step.
    pub fn can_overtake(&self, step: &Action) -> bool {
        use Mode::{Call, Read, ReadPart, Return, Take, TakeShared, Write, WritePart};
        let is_simple =
            |mode: Mode| matches!(mode, Read | Write | ReadPart | WritePart | Take | TakeShared | Call | Return);
        let meets = |one: &&Use| step.uses.iter().any(|theirs| theirs.object == one.object);
        !self.asks_values && self.uses.iter().filter(meets).all(|one| is_simple(one.mode))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Mode::*;

    const ALL: [Mode; 18] = [
        Read,
        Write,
        ReadPart,
        WritePart,
        Take,
        Give,
        TakeShared,
        GiveShared,
        TryTake,
        TryTakeShared,
        Busy,
        Post,
        Down,
        Arrive,
        Depart,
        Call,
        Return,
        Any,
    ];
    const _: () = assert!(ALL.len() == Any as usize + 1, "every mode is in the list");

    fn depend(one: Mode, other: Mode) -> bool {
        one.relation(other) != Relation::Independent
    }

    #[test]
    fn the_relation_does_not_ask_which_of_two_uses_is_first() {
        for one in ALL {
            for other in ALL {
                assert_eq!(one.relation(other), other.relation(one), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn coarse_modes_depend_wherever_modes_do_and_on_more() {
        let pairs = || ALL.into_iter().flat_map(|one| ALL.map(|other| (one, other)));
        let coarse = |(one, other): (Mode, Mode)| depend(one.coarse(), other.coarse());
        for (one, other) in pairs().filter(|(one, other)| depend(*one, *other)) {
            assert!(coarse((one, other)), "{one:?} {other:?}");
        }
        for (one, other) in [(Mode::Read, Mode::Read), (Mode::Any, Mode::Any)] {
            assert_eq!(coarse((one, other)), depend(one, other));
        }
        let more: Vec<(Mode, Mode)> = pairs().filter(|pair| coarse(*pair) && !depend(pair.0, pair.1)).collect();
        for pair in [(Mode::TakeShared, Mode::GiveShared), (Mode::Post, Mode::Post), (Mode::Arrive, Mode::Arrive)] {
            assert!(more.contains(&pair), "{pair:?}");
        }
    }
}
