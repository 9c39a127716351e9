//! A schedule to try on the program, and what is known of it before the run.

use foretrace_cutpoints::CutPoint;
use foretrace_trace::{EventId, Pattern, ThreadId, Triple};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is known of a schedule before it is tried.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// A failing run shows it itself.
    Observed,
    /// Memory can be used after it was freed, as a checker has found. That is an error whatever comes of it.
    UseAfterFree,
    /// It can happen, as a checker has found.
    Proved,
    /// A whole block is violated, as a checker has found, in a way that no triple shows.
    Block,
    /// A branch can go the other way, as a checker has found: what follows there is in no trace.
    OtherWay,
    /// It can happen up to the remote access; what follows is open.
    AfterRemote,
    /// Locks and other synchronisation allow it; the values of the recorded run do not.
    BeforeRemote,
    /// Another thread came to the same code and took another way there: it may make the remote access.
    SameCode,
    /// Nothing, since a limit was reached: the program is steered towards the three accesses.
    Undecided,
    /// Locks allow the three accesses: a cut-point.
    CutPoint,
}

impl Kind {
    /// All, in the order of how much is known.
    pub const ALL: [Kind; 10] = [
        Kind::Observed,
        Kind::UseAfterFree,
        Kind::Proved,
        Kind::Block,
        Kind::OtherWay,
        Kind::AfterRemote,
        Kind::BeforeRemote,
        Kind::SameCode,
        Kind::Undecided,
        Kind::CutPoint,
    ];

    /// Whether a checker has found that it can happen.
    pub fn is_proved(self) -> bool {
        matches!(self, Kind::UseAfterFree | Kind::Proved | Kind::Block | Kind::OtherWay)
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Observed => "observed",
            Kind::UseAfterFree => "use-after-free",
            Kind::Proved => "proved",
            Kind::Block => "block",
            Kind::OtherWay => "other-way",
            Kind::AfterRemote => "after-remote",
            Kind::BeforeRemote => "before-remote",
            Kind::SameCode => "same-code",
            Kind::Undecided => "undecided",
            Kind::CutPoint => "cut-point",
        }
    }
}

/// One of the three accesses, as people read it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Access {
    /// The thread's name.
    pub thread: String,
    /// The function that it is in.
    pub function: String,
    /// `file:line`.
    pub place: String,
    /// The line of source.
    pub text: Option<String>,
    /// Whether it is in code of a library that the program has compiled.
    pub is_of_library: bool,
}

/// A path of conflicts and program order that leaves a block and comes back; or a thread that uses memory, with the `free` in between; or what
/// makes a branch go another way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cycle {
    /// Its accesses, and what each does.
    pub path: Vec<(Access, String)>,
    /// The thread of the block.
    pub thread: String,
    /// The first other thread on the path.
    pub other: String,
    /// What it shows.
    #[serde(default)]
    pub kind: CycleKind,
}

/// What a [`Cycle`] shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum CycleKind {
    /// A block is not atomic.
    #[default]
    Block,
    /// Memory is used after it was freed.
    UseAfterFree,
    /// A branch goes the other way: what its last read takes, and from whom.
    OtherWay,
}

/// What a schedule is to be made of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ToMake {
    /// It reaches this cut-point.
    ToCutPoint(CutPoint),
    /// It is the recorded order up to the first access, without what another thread did from an event on.
    UpToFirst {
        /// The three accesses.
        triple: Triple,
        /// The other thread.
        other: ThreadId,
        /// The event.
        from: EventId,
    },
}

/// A schedule to try.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Attempt {
    /// What is known of it.
    pub kind: Kind,
    /// The places of the three accesses and the name of their block: the same in all runs of the program.
    pub class: String,
    /// The variable.
    pub variable: String,
    /// What the three accesses do.
    pub pattern: Pattern,
    /// First, remote and second; of a block the path's ends, and what comes right after it leaves the block; of a use after free the last
    /// access of the using thread before it, the `free`, and the use; of another way the branch, the
    /// write that decides it, and the read.
    pub accesses: [Access; 3],
    /// The violation path of a block, or a use after free, where that is what the schedule shows.
    pub cycle: Option<Cycle>,
    /// Other classes whose accesses come about in the same order where the program follows the schedule to the letter.
    pub also: Vec<String>,
    /// What the schedule is to be made of, as long as there is no file: it is made when its turn comes.
    #[serde(default)]
    pub to_make: Option<Box<ToMake>>,
    /// The file with the schedule.
    pub witness: PathBuf,
    /// The folder of the recording that it comes from.
    pub recording: PathBuf,
    /// The seed of that recording.
    pub seed: u64,
    /// Its place among the attempts of its kind.
    pub rank: Rank,
}

/// The place of an attempt among those of its kind: smaller ones come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Rank {
    /// Only the whole thread, as a block, holds the first and the second access.
    pub is_whole_thread: bool,
    /// An access is in code of a library.
    pub in_library: bool,
    /// A lock is held at an access.
    pub is_guarded: bool,
    /// How many levels of blocks the one that holds the accesses has inside.
    pub height: u32,
    /// Events between the first and the last access.
    pub distance: u32,
}

impl Rank {
    /// Of accesses of the program's own, within a block, of which it is not known that no lock is held there.
    pub fn guarded(height: u32, distance: u32) -> Rank {
        Rank { is_guarded: true, height, distance, ..Rank::default() }
    }
}

impl Attempt {
    /// By what effort is divided: the variable, without its place in arrays and among objects, and the function that is interrupted.
    pub fn group(&self) -> String {
        let plain: String = self.variable.chars().filter(|c| !c.is_ascii_digit()).collect();
        format!("{plain} in {}", self.accesses[0].function)
    }

    /// Whether it is to show a use after free.
    pub fn is_use_after_free(&self) -> bool {
        self.cycle.as_ref().is_some_and(|cycle| cycle.kind == CycleKind::UseAfterFree)
    }

    /// Whether it is to violate a whole block.
    pub fn is_block(&self) -> bool {
        self.cycle.as_ref().is_some_and(|cycle| cycle.kind == CycleKind::Block)
    }

    /// Whether only the whole thread, as a block, holds the first and the second access. It does not say so of a violation
    /// at whose accesses no lock is held, which is not put last.
    pub fn is_whole_thread(&self) -> bool {
        self.rank.is_whole_thread
    }

    /// How many of the three accesses are in code of libraries.
    pub fn in_libraries(&self) -> usize {
        self.accesses.iter().filter(|access| access.is_of_library).count()
    }

    /// Whether all three are: it is about a variable of a library's own.
    pub fn is_internal(&self) -> bool {
        self.in_libraries() == self.accesses.len()
    }

    /// The two functions that meet.
    pub fn functions(&self) -> (&str, &str) {
        (&self.accesses[0].function, &self.accesses[1].function)
    }
}
