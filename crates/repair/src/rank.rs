//! The repairs of failing traces, ranked by the passing traces that they would forbid (section 6.2).

use crate::cycle::{Link, cycle};
use crate::eliminators::{Limits, Segment, eliminators};
use crate::merge::{combine, drop_covered, merged, optimal};
use crate::operations::Operations;
use crate::relation::Relation;
use crate::section::{Repair, Section};
use crate::serializable::{Stretch, is_serializable};
use foretrace_trace::{Atomic, Trace};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// A passing trace that repairs are ranked by.
pub struct Passing {
    relation: Relation,
    operations: Operations,
}

/// A repair, and what is known of it.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// Its sections.
    pub repair: Repair,
    /// Which of the passing traces it forbids, by their place among them.
    pub forbids: Vec<usize>,
    /// Lines of all its sections together.
    pub length: u64,
    /// The number of the failing trace that `cycle` is of.
    pub of_failing: usize,
    /// The cycle of that trace that the repair breaks.
    pub cycle: Vec<Link>,
}

/// All optimal repairs.
pub struct Repairs {
    /// Best first.
    pub ranked: Vec<Ranked>,
    /// Whether they are all; if not, the limit was reached and smaller ones may be missing.
    pub complete: bool,
    /// Failing traces that no section rules out, since they are conflict serializable as they are, in the order in which operations ended
    /// and began; by their place.
    pub serializable: Vec<usize>,
    /// What the repairs lie in, where all traces have the same choice; without one each has its own
    /// ([`Operations::default_choice`]).
    pub chosen: Option<Atomic>,
}

/// The code of each optimal eliminator of one trace, with the smallest one of the trace that stands for it.
type OfTrace = IndexMap<Repair, Vec<Segment>, FxBuildHasher>;

struct Failing<'a> {
    trace: &'a Trace,
    relation: Relation,
    operations: Operations,
    repairs: OfTrace,
}

impl<'a> Failing<'a> {
    fn new(trace: &'a Trace, atomic: Option<Atomic>, limits: Limits<'_>) -> (Failing<'a>, bool) {
        let (mut relation, mut operations) = read(trace, atomic);
        let mut found = eliminators(&relation, &operations, limits);
        if found.sets.is_empty() && found.complete {
            // Operations that could run one after the other with these conflicts fail by the order in which they ended and began.
            relation = Relation::in_real_time(trace);
            operations = operations_of(trace, &relation, atomic);
            found = eliminators(&relation, &operations, limits);
        }
        let mut repairs = OfTrace::default();
        for segments in found.sets {
            let section = |segment| Section::new(trace, &relation, &operations, segment);
            let mut repair = merged(segments.iter().map(section).collect());
            if operations.calls.is_some() {
                let eliminates =
                    |rest: &Repair| !is_serializable(&relation, &stretches(rest, trace, &relation, &operations));
                drop_covered(&mut repair, eliminates);
            }
            repairs.entry(repair).or_insert(segments);
        }
        (Failing { trace, relation, operations, repairs }, found.complete)
    }

    fn is_eliminated_by(&self, repair: &Repair) -> bool {
        !is_serializable(&self.relation, &stretches(repair, self.trace, &self.relation, &self.operations))
    }
}

fn read(trace: &Trace, atomic: Option<Atomic>) -> (Relation, Operations) {
    let relation = Relation::new(trace);
    let operations = operations_of(trace, &relation, atomic);
    (relation, operations)
}

fn operations_of(trace: &Trace, relation: &Relation, atomic: Option<Atomic>) -> Operations {
    Operations::chosen(trace, relation, atomic)
}

fn stretches(repair: &Repair, trace: &Trace, relation: &Relation, operations: &Operations) -> Vec<Stretch> {
    repair.iter().flat_map(|section| section.stretches(trace, relation, operations)).collect()
}

/// Finds all optimal repairs of failing traces, best first. Without a choice of what is atomic each trace's calls, marks
/// or functions are its operations; where none of the functions needs a repair, all blocks are. A thread's own function is no
/// function but a thread, so that a repair may lie there.
pub fn repairs(failing: &[Trace], passing: &[Trace], atomic: Option<Atomic>, limits: Limits<'_>) -> Repairs {
    let found = repairs_within(failing, passing, atomic, limits);
    let are_functions = failing.iter().any(|trace| Operations::default_choice(trace) == Atomic::Functions);
    if atomic.is_none() && found.ranked.is_empty() && found.complete && are_functions {
        return repairs_within(failing, passing, Some(Atomic::Auto), limits);
    }
    found
}

fn repairs_within(failing: &[Trace], passing: &[Trace], atomic: Option<Atomic>, limits: Limits<'_>) -> Repairs {
    let mut complete = true;
    let mut serializable = Vec::new();
    let mut all: Vec<(usize, Failing<'_>)> = Vec::new();
    for (number, trace) in failing.iter().enumerate() {
        let (failing, is_complete) = Failing::new(trace, atomic, limits);
        complete &= is_complete;
        match failing.repairs.is_empty() {
            true => serializable.push(number),
            false => all.push((number, failing)),
        }
    }
    let mut known: Option<Vec<Repair>> = None;
    for (_, failing) in &all {
        let own = optimal(failing.repairs.keys().cloned().collect());
        let mut combined = match known {
            None => own,
            Some(known) => combine(&known, &own),
        };
        if combined.len() > limits.repairs {
            combined.truncate(limits.repairs);
            complete = false;
        }
        known = Some(combined);
    }
    let mut repairs = known.unwrap_or_default();
    repairs.iter_mut().for_each(|repair| widen(repair, &all));
    let mut ranked: Vec<Ranked> = optimal(repairs).into_iter().map(|repair| with_cycle(repair, &all)).collect();
    complete &= rank(&mut ranked, passing, atomic, limits);
    Repairs { ranked, complete, serializable, chosen: atomic }
}

/// A merged section may run through its lines in other stretches than its parts did. Where it does not eliminate all
/// that they did, it takes in all turns.
fn widen(repair: &mut Repair, failing: &[(usize, Failing<'_>)]) {
    for number in 0..repair.len() {
        if failing.iter().all(|(_, failing)| failing.is_eliminated_by(repair)) {
            return;
        }
        repair[number].turns = true;
    }
}

fn with_cycle(repair: Repair, failing: &[(usize, Failing<'_>)]) -> Ranked {
    let length = repair.iter().map(Section::length).sum();
    let within = |(number, failing): &(usize, Failing<'_>)| {
        let fits = |own: &&Repair| crate::subsumption::subsumes(&repair, own);
        let own = failing.repairs.keys().filter(fits).min_by_key(|own| own.len())?;
        let segments = failing.repairs.get(own)?;
        Some((*number, cycle(failing.trace, &failing.relation, segments)))
    };
    let (of_failing, cycle) = failing.iter().find_map(within).unwrap_or_default();
    Ranked { repair, forbids: Vec::new(), length, of_failing, cycle }
}

/// Puts the repairs that forbid the fewest passing traces first, shorter ones before longer ones; whether the limits
/// let all passing traces count.
fn rank(ranked: &mut [Ranked], passing: &[Trace], atomic: Option<Atomic>, limits: Limits<'_>) -> bool {
    let mut all = true;
    for (number, trace) in passing.iter().enumerate() {
        if !(limits.go_on)() {
            all = false;
            break;
        }
        let passing = Passing::new(trace, atomic);
        for repair in ranked.iter_mut() {
            if passing.is_forbidden_by(trace, &repair.repair) {
                repair.forbids.push(number);
            }
        }
    }
    let turns = |ranked: &Ranked| ranked.repair.iter().filter(|section| section.turns).count();
    ranked.sort_by_key(|ranked| (ranked.forbids.len(), turns(ranked), ranked.length, ranked.repair.clone()));
    all
}

impl Passing {
    /// Reads what is needed of a passing trace.
    pub fn new(trace: &Trace, atomic: Option<Atomic>) -> Passing {
        let (relation, operations) = read(trace, atomic);
        Passing { relation, operations }
    }

    /// Whether no trace with the same conflicts keeps all sections of a repair whole.
    pub fn is_forbidden_by(&self, trace: &Trace, repair: &Repair) -> bool {
        !is_serializable(&self.relation, &stretches(repair, trace, &self.relation, &self.operations))
    }
}
