//! The states of a run's trace, kept for what is asked about next.

use crate::context::AnalysisContext;
use crate::reachable::{FEW_STATES, Reachability, Reachable};
use foretrace_trace::{EventId, Triple, VarId};
use rustc_hash::FxHashMap;
use std::sync::atomic::Ordering::Relaxed;

/// States that are made for all variables together, in place of each that may be made for one.
const MOST_MADE: usize = 6;

/// States that all searches for prefixes may visit.
const MOST_VISITED: usize = 50_000_000;

/// The states for one thread of a run.
pub(crate) struct KnownStates<'c, 'a> {
    context: &'c AnalysisContext<'a>,
    /// Once it is asked for; nothing inside where states do not decide what is asked.
    reachability: Option<Option<Reachability<'a>>>,
    /// Those for variables on which conditions depend, and for each other one.
    known: FxHashMap<Option<VarId>, Reachable>,
    /// States at most for one variable.
    most: usize,
    /// How many were allowed when they were too many. No more are made until more are allowed.
    over_at: usize,
    visited: usize,
}

/// What states say of a candidate.
pub(crate) enum Said {
    /// A prefix shows it: these events.
    Shown(Vec<EventId>),
    /// None does.
    Never,
    /// They are too many, or of no use for what is asked.
    Nothing,
}

impl<'c, 'a> KnownStates<'c, 'a> {
    /// None yet.
    pub(crate) fn new(context: &'c AnalysisContext<'a>) -> KnownStates<'c, 'a> {
        let known = FxHashMap::default();
        KnownStates { context, reachability: None, known, most: FEW_STATES, over_at: 0, visited: 0 }
    }

    /// Allows this many states for one variable.
    pub(crate) fn may_make(&mut self, most: usize) {
        self.most = most;
    }

    /// Whether a prefix shows a candidate.
    pub(crate) fn triple(&mut self, triple: Triple) -> Said {
        self.ask(triple, Reachable::schedule)
    }

    /// Whether a prefix holds first and then remote, and not second.
    pub(crate) fn interruption(&mut self, triple: Triple) -> Said {
        self.ask(triple, Reachable::interruption)
    }

    /// Whether values are pinned, so that what no prefix shows may rest on that.
    pub(crate) fn have_pins(&self) -> bool {
        self.reachability.as_ref().and_then(Option::as_ref).is_some_and(Reachability::has_pins)
    }

    fn ask(
        &mut self,
        triple: Triple,
        find: impl FnOnce(&Reachable, Triple, &mut usize) -> Option<Vec<EventId>>,
    ) -> Said {
        let var = self.context.view.trace.event(triple.first).op.var().filter(|_| self.visited < MOST_VISITED);
        let Some(kind) = var.and_then(|var| self.kind(var)) else { return Said::Nothing };
        let Some(reachable) = self.known.get(&kind) else { return Said::Nothing };
        find(reachable, triple, &mut self.visited).map_or(Said::Never, Said::Shown)
    }

    /// Under what the states for this variable are known from now on; nothing if they are not.
    fn kind(&mut self, var: VarId) -> Option<Option<VarId>> {
        let context = self.context;
        let reachability = self.reachability.get_or_insert_with(|| context.reachability()).as_ref()?;
        let kind = (!reachability.counts(var)).then_some(var);
        let is_for_all = kind.is_none(); // then another thread of the run finds the same
        let is_over = is_for_all && context.more_states_than.load(Relaxed) >= self.most;
        if self.known.contains_key(&kind) || is_over || self.over_at >= self.most {
            return self.known.contains_key(&kind).then_some(kind);
        }
        let limits = context.limits();
        let reachable = reachability.all(var, self.most, &|| limits.reached().is_none());
        let states = reachable.as_ref().map(Reachable::count);
        tracing::debug!(is_for_all, states, most = self.most, "looked for states");
        match reachable {
            Some(reachable) => drop(self.known.insert(kind, reachable)),
            None => {
                self.over_at = self.most;
                if is_for_all && limits.reached().is_none() {
                    context.more_states_than.fetch_max(self.most, Relaxed);
                }
            }
        }
        if self.known.values().map(Reachable::count).sum::<usize>() > self.most.saturating_mul(MOST_MADE) {
            self.over_at = self.most;
        }
        self.known.contains_key(&kind).then_some(kind)
    }
}
