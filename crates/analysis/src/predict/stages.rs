//! What solver threads are asked of the candidates that the filters left open, one stage after the other.

use super::{FxIndexMap, Run, Slot, Stage, tells_apart};
use crate::candidates::Class;
use crate::options::{Per, Strategy};
use crate::whole_thread::WholeThreads;
use crate::workers::{Batch, Effort, Family, PART_FOR_LITTLE, Task};
use foretrace_trace::{Independence, Triple};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How much of the time that is left hard candidates may take.
const MOST_FOR_HARD: f64 = 0.75;

/// A class is of little interest if its first candidates, this many, do not count as found.
const LOOKED_AT: usize = 8;

/// How many queries may end at their time limit where the run has none: of a class, in the time of one; where each candidate is to be decided, of
/// those that are asked together.
const QUERIES: u32 = 4;

/// Candidates of one class that a solver thread takes at a time when each is to be decided.
const SHARE: usize = 64;

impl Run<'_, '_> {
    /// What solver threads are asked of a chunk in a stage.
    pub(super) fn families_of(&self, stage: Stage, triples: &[Triple], slots: &[Slot<'_>]) -> Vec<Family> {
        match stage {
            Stage::Easy if self.context.options.strategy == Strategy::Demand => self.easy(triples, slots),
            Stage::Easy => Vec::new(),
            Stage::OffPath => self.not_apart_yet(triples, slots),
            Stage::Hard => self.hard(triples, slots),
            Stage::Guarded => self.not_guarded_yet(triples, slots),
        }
    }

    /// All open candidates, each with little work.
    fn easy(&self, chunk: &[Triple], slots: &[Slot<'_>]) -> Vec<Family> {
        self.families(self.open(chunk, slots, Effort::Easy).into_iter().map(|batch| (false, batch)).collect())
    }

    /// The candidates that are not easy, classes with few of them first; each class has its share of the time. Classes of little interest come
    /// last, and take little time.
    fn hard(&self, chunk: &[Triple], slots: &[Slot<'_>]) -> Vec<Family> {
        let options = self.context.options;
        let batches = self.open(chunk, slots, Effort::Easy);
        let by_class = options.per == Per::Location;
        let by_demand = options.strategy == Strategy::Demand;
        let in_one_query = by_class && by_demand && self.context.deadline.is_none();
        let share = match self.context.deadline {
            _ if !by_demand => Duration::MAX,
            None if in_one_query => options.timeout,
            None => options.timeout.saturating_mul(QUERIES),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                let workers = options.jobs.min(batches.len()).max(1) as u32;
                left.mul_f64(MOST_FOR_HARD).saturating_mul(workers) / (batches.len().max(1) as u32)
            }
        };
        let little = options.timeout / PART_FOR_LITTLE;
        let threads = WholeThreads::new(self.context.view.trace, options);
        let is_little = |batch: &Batch| {
            let mut first = batch.triples.iter().take(LOOKED_AT);
            by_demand && first.all(|(_, triple)| !threads.counts(*triple))
        };
        let mut batches: Vec<(bool, Batch)> = batches.into_iter().map(|batch| (is_little(&batch), batch)).collect();
        batches.sort_by_key(|(is_little, batch)| (*is_little, batch.triples.len()));
        for (is_little, batch) in &mut batches {
            let (share, query) = match is_little {
                true => (share.min(little), little),
                false if in_one_query => (share, options.timeout / QUERIES.min(batch.triples.len() as u32).max(1)),
                false => (share, options.timeout),
            };
            batch.task = Task::Decide { stop_at_feasible: by_class, effort: Effort::Hard { share, query } };
        }
        self.families(batches)
    }

    /// The open candidates, those of one class together. Where one feasible candidate is enough, those come first that a short
    /// part of the recorded run contains: little of the trace is needed to decide them.
    fn open(&self, chunk: &[Triple], slots: &[Slot<'_>], effort: Effort) -> Vec<Batch> {
        let stop_at_feasible = self.context.options.per == Per::Location;
        let is_open = |place: usize, class: &Class| {
            matches!(slots[place], Slot::Open) && !(stop_at_feasible && self.classes.get(class) == Some(&true))
        };
        let most = if stop_at_feasible { usize::MAX } else { SHARE };
        let mut batches = self.batches(chunk, is_open, most, Task::Decide { stop_at_feasible, effort });
        if stop_at_feasible {
            batches.iter_mut().for_each(Batch::shortest_first);
        }
        batches
    }

    /// Feasible candidates whose witness is not guarded-dependent: another one may be.
    fn not_guarded_yet(&self, chunk: &[Triple], slots: &[Slot<'_>]) -> Vec<Family> {
        let options = self.context.options;
        let guarded = options.question.independence == Independence::Guarded;
        if guarded || options.verdicts_only || options.strategy == Strategy::Paper {
            return Vec::new();
        }
        alone(self.batches(chunk, |place, _| slots[place].is_not_guarded(), SHARE, Task::Guarded))
    }

    /// Infeasible candidates that may be off the path only: all, or those of classes in which nothing is feasible, the nearest to the
    /// recorded order first.
    fn not_apart_yet(&self, chunk: &[Triple], slots: &[Slot<'_>]) -> Vec<Family> {
        let options = self.context.options;
        if !tells_apart(options) {
            return Vec::new();
        }
        let by_class = options.per == Per::Location;
        let is_open = |place: usize, class: &Class| {
            slots[place].is_unasked() && !(by_class && self.classes.get(class) == Some(&true))
        };
        let task = Task::OffPath { stop_at_after_remote: by_class };
        let mut batches = self.batches(chunk, is_open, usize::MAX, task);
        if by_class {
            batches.iter_mut().for_each(Batch::nearest_first);
        }
        alone(batches)
    }

    fn batches(&self, chunk: &[Triple], wanted: impl Fn(usize, &Class) -> bool, most: usize, task: Task) -> Vec<Batch> {
        let mut by_class: FxIndexMap<Class, Vec<(usize, Triple)>> = FxIndexMap::default();
        for (place, triple) in chunk.iter().enumerate() {
            let class = self.context.class(*triple);
            if wanted(place, &class) {
                by_class.entry(class).or_default().push((place, *triple));
            }
        }
        let shares = |triples: Vec<(usize, Triple)>| triples.chunks(most).map(<[_]>::to_vec).collect::<Vec<_>>();
        by_class.into_values().flat_map(shares).map(|triples| Batch { triples, task }).collect()
    }

    /// Batches with the same pairs of places together, if they are of equal interest: what refutes one of them often refutes the others.
    fn families(&self, batches: Vec<(bool, Batch)>) -> Vec<Family> {
        if self.context.options.per != Per::Location {
            return alone(batches.into_iter().map(|(_, batch)| batch).collect());
        }
        let mut families: FxIndexMap<(bool, Class), Vec<Batch>> = FxIndexMap::default();
        for (is_little, batch) in batches {
            let Some((_, triple)) = batch.triples.first() else { continue };
            let class = self.context.class(*triple);
            families.entry((is_little, Class { remote: class.first, ..class })).or_default().push(batch);
        }
        families.into_values().map(|batches| Family { batches, known: Arc::default() }).collect()
    }
}

/// Batches each by itself.
fn alone(batches: Vec<Batch>) -> Vec<Family> {
    batches.into_iter().map(|batch| Family { batches: vec![batch], known: Arc::default() }).collect()
}
