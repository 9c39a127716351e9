//! Chooses the schedule to try next. Each class of candidates offers its most certain schedule, and effort goes to where outcomes changed.
//!
//! The choice uses an upper confidence bound (Auer, Cesa-Bianchi and Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem",
//! Machine Learning, 2002). Its arms are the kinds of schedules, and the variables with the functions that use them. Equal schedules are
//! ordered by kind, then tight blocks first, then by how near the accesses were in the recorded run.

use super::attempt::{Attempt, Kind, Rank};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The attempts that are still to be made, and what came of others.
#[derive(Default, Serialize, Deserialize)]
pub struct Plan {
    waiting: Vec<Attempt>,
    classes: FxHashMap<String, Class>,
    kinds: FxHashMap<Kind, Arm>,
    groups: FxHashMap<String, Arm>,
    tried: u64,
    /// Those in code of libraries that come last, since many others of their variables are tried before.
    #[serde(default)]
    later: Vec<Attempt>,
}

/// What is known of a class.
#[derive(Default, Serialize, Deserialize)]
struct Class {
    /// Schedules of it that were planned, and that were tried.
    planned: u32,
    tried: u32,
    /// Whether one of them reached the three accesses, or failed.
    settled: bool,
    /// Whether a recorded run that passed has shown the three accesses.
    shown: bool,
    /// Whether one of them comes last.
    #[serde(default)]
    is_later: bool,
}

/// How much attempts of a sort brought.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Arm {
    tried: f64,
    brought: f64,
    /// Classes in code of libraries that were planned.
    #[serde(default)]
    in_libraries: u32,
    /// Whether one failed.
    #[serde(default)]
    fails: bool,
}

/// What an attempt brought.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Gain {
    /// A failure that is new.
    New,
    /// One that is known.
    Known,
    /// The three accesses, without a failure.
    Reached,
    /// Nothing.
    Nothing,
}

/// Schedules of one class that are tried until one reaches the accesses.
const MOST_OF_CLASS: u32 = 3;
/// Classes of a variable in code of libraries alone that are tried in their turn. Others come last, unless one fails: the words of a thread pool have
/// hundreds.
const MOST_IN_LIBRARIES: u32 = 16;
/// As many attempts of a sort count as made before the first, with half of them worth it.
const PRIOR: f64 = 2.0;
/// How much what is not known yet weighs.
const CURIOSITY: f64 = 0.4;

impl Plan {
    /// Adds the attempts of a recording; says how many of their classes are new.
    pub fn add(&mut self, mut attempts: Vec<Attempt>) -> usize {
        let mut new = 0;
        attempts.sort_by_key(|attempt| (attempt.kind, attempt.rank));
        for attempt in attempts {
            let class = self.classes.entry(attempt.class.clone()).or_default();
            if class.settled {
                continue;
            }
            if is_in_libraries(&attempt) && class.planned == 0 {
                let group = self.groups.entry(attempt.group()).or_default();
                if group.in_libraries >= MOST_IN_LIBRARIES && !group.fails {
                    if !std::mem::replace(&mut class.is_later, true) {
                        self.later.push(attempt);
                    }
                    continue;
                }
                group.in_libraries += 1;
            }
            new += usize::from(class.planned == 0);
            if class.planned >= MOST_OF_CLASS {
                continue;
            }
            class.planned += 1;
            self.waiting.push(attempt);
        }
        self.waiting.sort_by_key(|attempt| (attempt.kind, attempt.rank));
        new
    }

    /// Tries no more schedules of these classes: a run along another schedule has shown their accesses.
    pub fn settle(&mut self, classes: &[String]) {
        for class in classes {
            self.classes.entry(class.clone()).or_default().settled = true;
        }
        let is_settled = |attempt: &Attempt| self.classes.get(&attempt.class).is_some_and(|class| class.settled);
        self.waiting.retain(|attempt| !is_settled(attempt));
    }

    /// Notes that recorded runs that passed show the accesses of these classes.
    pub fn note_shown(&mut self, classes: &[String]) {
        for class in classes {
            self.classes.entry(class.clone()).or_default().shown = true;
        }
    }

    /// For where something has failed: of classes of which nothing is known but that locks allow them, leaves out those that runs which
    /// passed have shown, and further tries. These bring next to nothing.
    pub fn drop_unlikely(&mut self) {
        let is_over = |class: &Class| class.shown || class.tried > 0;
        let is_unlikely =
            |attempt: &Attempt| is_guess(attempt) && self.classes.get(&attempt.class).is_some_and(is_over);
        self.waiting.retain(|attempt| !is_unlikely(attempt));
    }

    /// Whether a schedule of a class was planned.
    pub fn has(&self, class: &str) -> bool {
        self.classes.get(class).is_some_and(|class| class.planned > 0)
    }

    /// Whether recorded runs that passed show the accesses of a class.
    pub fn is_shown(&self, class: &str) -> bool {
        self.classes.get(class).is_some_and(|class| class.shown)
    }

    /// Has those wait that come last, of all variables or of those whose group this is.
    pub fn take_later(&mut self, group: Option<&str>) {
        let is_taken = |attempt: &mut Attempt| group.is_none_or(|group| attempt.group() == group);
        for attempt in self.later.extract_if(.., is_taken) {
            let class = self.classes.entry(attempt.class.clone()).or_default();
            if !class.settled {
                class.planned += 1;
                self.waiting.push(attempt);
            }
        }
        self.waiting.sort_by_key(|attempt| (attempt.kind, attempt.rank));
    }

    /// How many are waiting.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// How many are left, those that come last included.
    pub fn left(&self) -> usize {
        let is_open = |attempt: &&Attempt| self.classes.get(&attempt.class).is_none_or(|class| !class.settled);
        self.waiting.len() + self.later.iter().filter(is_open).count()
    }

    /// How many files are kept for another test to go on with.
    pub fn files(&self) -> usize {
        self.all_left().filter(|attempt| attempt.to_make.is_none()).count()
    }

    /// All that are left.
    pub fn all_left(&self) -> impl Iterator<Item = &Attempt> {
        self.waiting.iter().chain(&self.later)
    }

    /// All that are left, to change where their files are.
    pub fn left_mut(&mut self) -> impl Iterator<Item = &mut Attempt> {
        self.waiting.iter_mut().chain(&mut self.later)
    }

    /// Takes back what was not tried to its end.
    pub fn put_back(&mut self, attempt: Attempt) {
        self.tried -= 1;
        self.classes.entry(attempt.class.clone()).or_default().tried -= 1;
        self.kinds.entry(attempt.kind).or_default().tried -= 1.0;
        self.groups.entry(attempt.group()).or_default().tried -= 1.0;
        self.keep(attempt);
    }

    /// Makes one wait that was not of the plan, and was not tried to its end.
    pub fn keep(&mut self, attempt: Attempt) {
        self.waiting.push(attempt);
        self.waiting.sort_by_key(|attempt| (attempt.kind, attempt.rank));
    }

    /// Takes the next ones, at most so many, no two of a class.
    pub fn next(&mut self, most: usize) -> Vec<Attempt> {
        let mut taken: Vec<Attempt> = Vec::new();
        while taken.len() < most {
            let is_free = |attempt: &&Attempt| taken.iter().all(|other| other.class != attempt.class);
            let free = self.waiting.iter().enumerate().filter(|(_, attempt)| is_free(attempt));
            let scored = free.map(|(at, attempt)| (at, self.score(attempt)));
            let Some((at, _)) = scored.reduce(|best, next| if next.1 > best.1 { next } else { best }) else { break };
            let attempt = self.waiting.remove(at);
            self.start(&attempt);
            taken.push(attempt);
        }
        taken
    }

    /// What came of an attempt.
    pub fn learn(&mut self, attempt: &Attempt, gain: Gain) {
        let brought = match gain {
            Gain::New => 1.0,
            Gain::Known => 0.3,
            Gain::Reached if matches!(attempt.kind, Kind::Proved | Kind::Block) => 0.05,
            Gain::Reached => 0.15,
            Gain::Nothing => 0.0,
        };
        self.kinds.entry(attempt.kind).or_default().brought += brought;
        let group = self.groups.entry(attempt.group()).or_default();
        group.brought += brought;
        if matches!(gain, Gain::New | Gain::Known) && !std::mem::replace(&mut group.fails, true) {
            self.take_later(Some(&attempt.group()));
        }
        if gain != Gain::Nothing {
            self.classes.entry(attempt.class.clone()).or_default().settled = true;
            self.waiting.retain(|other| other.class != attempt.class);
        }
    }

    fn start(&mut self, attempt: &Attempt) {
        self.tried += 1;
        self.classes.entry(attempt.class.clone()).or_default().tried += 1;
        self.kinds.entry(attempt.kind).or_default().tried += 1.0;
        self.groups.entry(attempt.group()).or_default().tried += 1.0;
    }

    fn score(&self, attempt: &Attempt) -> f64 {
        let Rank { is_whole_thread, in_library, is_guarded, height, .. } = attempt.rank;
        let tightness = 0.1 / f64::from(height + 1) - 0.25 * f64::from(u8::from(is_whole_thread));
        let library = -0.3 * f64::from(u8::from(in_library));
        let bare = 0.15 * f64::from(u8::from(!is_guarded));
        let is_shown = is_guess(attempt) && self.classes.get(&attempt.class).is_some_and(|class| class.shown);
        let shown = -0.3 * f64::from(u8::from(is_shown));
        let arm = |arm: Option<&Arm>| arm.copied().unwrap_or_default().score(self.tried);
        let kind = arm(self.kinds.get(&attempt.kind)) + likelihood(attempt.kind);
        kind + arm(self.groups.get(&attempt.group())) + tightness + library + bare + shown
    }
}

/// Whether nothing is known of the schedule but that locks allow it. What is proved may be another instance of its class than passing runs show.
fn is_guess(attempt: &Attempt) -> bool {
    matches!(attempt.kind, Kind::Undecided | Kind::CutPoint)
}

/// Whether the code around is that of libraries alone.
fn is_in_libraries(attempt: &Attempt) -> bool {
    attempt.accesses[0].function.is_empty() && attempt.in_libraries() > 0
}

/// How likely a schedule is to be followed and to change something. What only the recorded path forbids changes the path.
fn likelihood(kind: Kind) -> f64 {
    match kind {
        Kind::Observed | Kind::UseAfterFree => 0.5,
        Kind::Proved | Kind::Block | Kind::AfterRemote => 0.0,
        Kind::BeforeRemote => -0.02,
        Kind::OtherWay => -0.05,
        Kind::Undecided => -0.1,
        Kind::CutPoint => -0.15,
        Kind::SameCode => -0.12,
    }
}

impl Arm {
    fn score(self, all: u64) -> f64 {
        let mean = (self.brought + PRIOR / 2.0) / (self.tried + PRIOR);
        mean + CURIOSITY * ((1.0 + all as f64).ln() / (self.tried + 1.0)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_trace::Pattern;

    fn attempt(kind: Kind, class: &str, variable: &str) -> Attempt {
        let accesses = Default::default();
        let (class, variable) = (class.to_string(), variable.to_string());
        let (witness, recording) = Default::default();
        Attempt {
            kind,
            class,
            variable,
            pattern: Pattern::Rww,
            accesses,
            also: Vec::new(),
            to_make: None,
            cycle: None,
            witness,
            recording,
            seed: 0,
            rank: Rank::default(),
        }
    }

    #[test]
    fn what_is_proved_comes_first_and_kinds_take_turns() {
        let mut plan = Plan::default();
        let proved = ["a", "b", "c"].map(|class| attempt(Kind::Proved, class, class));
        let open = ["d", "e", "f"].map(|class| attempt(Kind::BeforeRemote, class, class));
        assert_eq!(plan.add(proved.into_iter().chain(open).collect()), 6);
        let mut kinds = Vec::new();
        while let Some(next) = plan.next(1).pop() {
            kinds.push(next.kind);
            plan.learn(&next, Gain::Reached);
        }
        assert_eq!(kinds[0], Kind::Proved);
        assert!(kinds[..3].contains(&Kind::BeforeRemote), "{kinds:?}");
        assert_eq!(kinds.len(), 6);
    }

    #[test]
    fn effort_goes_to_the_variable_whose_outcome_changed() {
        let mut plan = Plan::default();
        let all = (0..20).map(|n| attempt(Kind::Proved, &n.to_string(), if n % 2 == 0 { "x" } else { "y" }));
        plan.add(all.collect());
        let mut first = Vec::new();
        for _ in 0..10 {
            let next = plan.next(1).pop().expect("there are 20");
            plan.learn(&next, if next.variable == "y" { Gain::New } else { Gain::Nothing });
            first.push(next.variable);
        }
        assert!(first.iter().filter(|variable| *variable == "y").count() >= 7, "{first:?}");
    }

    #[test]
    fn a_class_is_done_when_it_was_reached() {
        let mut plan = Plan::default();
        plan.add(vec![attempt(Kind::BeforeRemote, "a", "x"), attempt(Kind::BeforeRemote, "a", "x")]);
        let first = plan.next(5);
        assert_eq!((first.len(), plan.waiting()), (1, 1));
        plan.learn(&first[0], Gain::Reached);
        assert_eq!((plan.waiting(), plan.add(vec![attempt(Kind::Proved, "a", "x")])), (0, 0));
    }

    #[test]
    fn a_class_that_another_run_has_shown_is_not_tried() {
        let mut plan = Plan::default();
        plan.settle(&["a".to_string()]);
        let all = ["a", "b", "c"].map(|class| attempt(Kind::Proved, class, "x"));
        assert_eq!(plan.add(all.into()), 2);
        plan.settle(&["c".to_string()]);
        assert_eq!(plan.next(5).iter().map(|next| next.class.as_str()).collect::<Vec<_>>(), ["b"]);
        let rest = [(Kind::CutPoint, "d"), (Kind::Proved, "e")].map(|(kind, class)| attempt(kind, class, "x"));
        assert_eq!(plan.add(rest.into()), 2);
        plan.note_shown(&["d".to_string(), "e".to_string()]);
        assert_eq!(plan.waiting(), 2, "it is tried as long as nothing fails");
        plan.drop_unlikely();
        assert_eq!(plan.next(5).iter().map(|next| next.class.as_str()).collect::<Vec<_>>(), ["e"]);
    }

    #[test]
    fn of_a_variable_of_libraries_most_come_last_as_long_as_none_fails() {
        let all = |is_of_library: bool| -> Vec<Attempt> {
            let of = |n: u32| {
                let mut attempt = attempt(Kind::Proved, &n.to_string(), "x");
                attempt.accesses[2].is_of_library = is_of_library;
                attempt
            };
            (0..40).map(of).collect()
        };
        let mut plan = Plan::default();
        assert_eq!((plan.add(all(true)), plan.waiting(), plan.left()), (16, 16, 40));
        for _ in 0..10 {
            let next = plan.next(1).pop().expect("there are 16");
            plan.learn(&next, Gain::Reached);
        }
        assert_eq!(
            (plan.add(all(true)), plan.waiting(), plan.left()),
            (0, 6 + 6, 6 + 6 + 24),
            "each class has three tries"
        );
        let next = plan.next(1).pop().expect("six classes wait");
        plan.learn(&next, Gain::New);
        assert_eq!(plan.waiting(), plan.left(), "one has failed");
        assert_eq!(plan.waiting(), 2 * 5 + 24);
        let mut plan = Plan::default();
        plan.add(all(true));
        plan.settle(&["39".to_string()]);
        assert_eq!(plan.left(), 39);
        plan.take_later(None);
        assert_eq!((plan.waiting(), plan.left()), (39, 39));
        let mut plan = Plan::default();
        assert_eq!((plan.add(all(false)), plan.waiting()), (40, 40), "code of the program is tried in its turn");
    }

    #[test]
    fn guesses_get_one_try_where_something_has_failed() {
        let mut plan = Plan::default();
        for kind in [Kind::CutPoint, Kind::Proved] {
            plan.add(vec![attempt(kind, kind.name(), "x"), attempt(kind, kind.name(), "x")]);
        }
        for _ in 0..2 {
            let next = plan.next(1).pop().expect("there are four");
            plan.learn(&next, Gain::Nothing);
        }
        plan.drop_unlikely();
        let left: Vec<Kind> = plan.all_left().map(|next| next.kind).collect();
        assert!(!left.is_empty() && left.iter().filter(|kind| **kind == Kind::CutPoint).count() <= 1, "{left:?}");
        while let Some(next) = plan.next(1).pop() {
            plan.learn(&next, Gain::Nothing);
            plan.drop_unlikely();
        }
        let tried = |kind: Kind| plan.classes[kind.name()].tried;
        assert_eq!((tried(Kind::CutPoint), tried(Kind::Proved)), (1, 2));
    }
}
