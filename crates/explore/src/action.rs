//! The actions of steps on shared objects, and which two actions depend on each other.
//!
//! [`Mode::relation`] is the one definition for explorations. Witnesses are shortened by a coarser one, which takes any two uses of one
//! synchronisation object to depend on each other (`analysis/src/schedule.rs`). The exhaustive oracles use neither.

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
