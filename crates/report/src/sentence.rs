//! Sentences about statements of an argument and what follows from them.

use super::names::thread_name;
use super::table::act;
use super::values::shown_value;
use foretrace_analysis::explain::{Conclusion, Statement};
use foretrace_checker::Step;
use foretrace_encodings::Origin;
use foretrace_index::TraceIndex;
use foretrace_trace::{EventId, Model, OTHER_PROGRAMS, Observed, Op, SyncId, Trace, smtlib};
use indexmap::{IndexMap, IndexSet};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Conditions are cut at this many characters.
const LONGEST_CONDITION: usize = 120;

/// Of more alternatives than these only the first are named.
const MOST_CHOICES: usize = 6;

/// Says what statements state.
pub struct Speaker<'t> {
    /// The trace that they are about.
    pub trace: &'t Trace,
    /// Its structure.
    pub trace_index: &'t TraceIndex,
    /// What its run showed.
    pub observed: &'t Observed,
    /// What a read returns.
    pub model: Model,
    /// What was introduced already, where that need not be done again.
    pub introduced: Option<RefCell<BTreeSet<EventId>>>,
}

impl Speaker<'_> {
    /// An event with what it does and where: `14 (write acct.balance, bank.c:25)`; without what it does from the second
    /// time on.
    pub fn event(&self, event: EventId) -> String {
        let known = self.introduced.as_ref().is_some_and(|introduced| !introduced.borrow_mut().insert(event));
        if known {
            return self.trace.loc(event).map_or(event.to_string(), |loc| format!("{event} ({loc})"));
        }
        let step = Step { event, read: None, written: None };
        let place = self.trace.loc(event).map_or(String::new(), |loc| format!(", {loc}"));
        format!("{event} ({}{place})", act(self.trace, &step))
    }

    fn thread(&self, event: EventId) -> String {
        thread_name(self.trace, self.trace.event(event).thread)
    }

    /// What a statement says, as one sentence without its full stop.
    pub fn sentence(&self, statement: &Statement) -> String {
        match statement {
            Statement::Chain(events) => self.chain(events),
            Statement::After { earlier, later } => self.after(*earlier, *later),
            Statement::WholeStep(event) => {
                let last = self.trace_index.step(self.trace, *event).1;
                format!("{} to {last} happen in one step", self.event(*event))
            }
            Statement::Reads { at, parts } => self.reads(*at, parts),
            Statement::Condition { about, pinned } => self.condition(*about, *pinned),
            Statement::Exclusion { one, other } => self.exclusion(*one, *other),
            Statement::LastAttempt { failed, made } => self.last_attempt(*failed, *made),
            Statement::Busy(event) => format!(
                "{} of {} fails to take the lock: another thread holds it there",
                self.event(*event),
                self.thread(*event)
            ),
            Statement::Signalled(event) => self.signalled(*event),
            Statement::OwnSignal { one, other } => {
                format!("{} and {} need a signal each", self.event(*one), self.event(*other))
            }
            Statement::Counted(event) => self.counted(*event),
            Statement::OwnToken { one, other } => {
                format!("{} and {} need a post each", self.event(*one), self.event(*other))
            }
        }
    }

    /// What a statement rests on, in few words: of which kind, and on what. Orders within threads go without saying.
    fn short(&self, statement: &Statement) -> Option<(&'static str, String)> {
        let op = |event: EventId| &self.trace.event(event).op;
        let at = |event: EventId| self.trace.loc(event).map_or(format!("event {event}"), str::to_string);
        let sync = |id: SyncId| self.trace.syncs[id.index()].key.to_string();
        Some(match statement {
            Statement::Chain(_) | Statement::WholeStep(_) => return None,
            Statement::After { earlier, later } => match (op(*earlier), op(*later)) {
                (_, Op::Join { .. }) => ("join at", at(*later)),
                (_, Op::Depart { barrier, .. }) if self.is_of_other_programs(*barrier) => ("answer at", at(*later)),
                (_, Op::Depart { barrier, .. }) => ("barrier", sync(*barrier)),
                (_, Op::OncePass { once }) => ("once", sync(*once)),
                _ => ("fork at", at(*earlier)),
            },
            Statement::Reads { at, .. } => {
                let var = op(*at).var().map_or("", |var| self.trace.vars[var.index()].shown());
                ("value of", var.to_string())
            }
            Statement::Condition { about, pinned: true } => ("pin at", at(*about)),
            Statement::Condition { about, .. } => match op(*about) {
                Op::Assume { .. } => ("branch at", at(*about)),
                _ => ("guard at", at(*about)),
            },
            Statement::Exclusion { one, .. } | Statement::LastAttempt { failed: one, .. } => {
                let kind = if matches!(op(*one), Op::OnceBegin { .. }) { "once" } else { "lock" };
                (kind, self.trace_index.region_from(*one).map_or(String::new(), |region| sync(region.lock)))
            }
            Statement::Busy(event) => ("failed try at", at(*event)),
            Statement::Signalled(event) | Statement::OwnSignal { one: event, .. } => ("signal for", at(*event)),
            Statement::Counted(event) | Statement::OwnToken { one: event, .. } => ("count at", at(*event)),
        })
    }

    /// What statements rest on, in few words: `lock m; branch at bank.c:24; value of flag`.
    pub fn in_short<'s>(&self, statements: impl IntoIterator<Item = &'s Statement>) -> String {
        let mut kinds: IndexMap<&'static str, IndexSet<String>> = IndexMap::new();
        for (kind, what) in statements.into_iter().filter_map(|statement| self.short(statement)) {
            kinds.entry(kind).or_default().insert(what);
        }
        let shown = kinds.into_iter().map(|(kind, objects)| {
            let mut list: Vec<String> = objects.iter().take(MOST_CHOICES).cloned().collect();
            if objects.len() > MOST_CHOICES {
                list.push(format!("{} more", objects.len() - MOST_CHOICES));
            }
            format!("{kind} {}", list.join(", "))
        });
        let shown: Vec<String> = shown.collect();
        if shown.is_empty() { "program order".to_string() } else { shown.join("; ") }
    }

    fn is_of_other_programs(&self, barrier: SyncId) -> bool {
        &*self.trace.syncs[barrier.index()].key == OTHER_PROGRAMS
    }

    fn chain(&self, events: &[EventId]) -> String {
        let shown: Vec<String> = events.iter().map(|event| self.event(*event)).collect();
        format!("{} does {}", self.thread(events[0]), shown.join(", then "))
    }

    fn after(&self, earlier: EventId, later: EventId) -> String {
        let (before, after) = (self.event(earlier), self.event(later));
        let reason = match (&self.trace.event(earlier).op, &self.trace.event(later).op) {
            (_, Op::Join { .. }) => "a join waits for the last event of its thread",
            (_, Op::Depart { barrier, .. }) if self.is_of_other_programs(*barrier) => {
                "what other programs send may depend on what they were sent before"
            }
            (_, Op::OncePass { .. }) => "a thread goes past an initialisation only after its end",
            (_, Op::Depart { .. }) => "no thread leaves a barrier before all have come",
            _ => "a thread starts after its fork",
        };
        format!("{before} of {} comes before {after} of {}: {reason}", self.thread(earlier), self.thread(later))
    }

    fn condition(&self, about: EventId, pinned: bool) -> String {
        let Some(term) = self.trace.event(about).op.condition() else { return self.event(about) };
        let mut text = String::new();
        smtlib::print(&mut text, &self.trace.terms, term, &|local| self.trace.local_name(local));
        if text.chars().count() > LONGEST_CONDITION {
            text = text.chars().take(LONGEST_CONDITION).chain("...".chars()).collect();
        }
        let sources = self.sources_of(about);
        let (thread, event) = (self.thread(about), self.event(about));
        if pinned {
            format!(
                "pin {event} of {thread}: a value went where it is not tracked, so {text} is taken to hold as in \
                 the run{sources}"
            )
        } else {
            let kind = if matches!(self.trace.event(about).op, Op::Assume { .. }) { "branch" } else { "guard of" };
            format!("{kind} {event}: {thread} goes on only where {text} holds{sources}")
        }
    }

    /// Which reads gave the names in a condition: `, a from 12 (read x, f.c:3)`.
    fn sources_of(&self, about: EventId) -> String {
        let Some(term) = self.trace.event(about).op.condition() else { return String::new() };
        let mut definitions: BTreeMap<EventId, String> = BTreeMap::new();
        for local in self.trace.terms.leaves(term) {
            definitions.insert(local.definition, self.trace.local_name(local).to_string());
        }
        definitions.remove(&about);
        let shown: Vec<String> =
            definitions.iter().map(|(event, name)| format!("{name} from {}", self.event(*event))).collect();
        if shown.is_empty() { String::new() } else { format!(", with {}", shown.join(" and ")) }
    }

    fn reads(&self, at: EventId, parts: &[Origin]) -> String {
        let event = self.event(at);
        let mut said: Vec<String> = Vec::new();
        let mut by_source: BTreeMap<Option<EventId>, Vec<String>> = BTreeMap::new();
        for part in parts {
            match *part {
                Origin::SomeSource { .. } => said.push("some write before it or the initial value gives it".into()),
                Origin::Recorded { with, .. } => said.push(self.recorded(at, with)),
                Origin::Gives { source, .. } => by_source.entry(source).or_default().push(self.gives(at, source)),
                Origin::WrittenBefore { source, .. } => {
                    by_source.entry(Some(source)).or_default().push(format!("only if {source} comes before {at}"));
                }
                Origin::NotBetween { source, other, .. } => {
                    let gap = match source {
                        Some(write) => format!("not if {} comes between {write} and {at}", self.event(other)),
                        None => format!("not if {} comes before {at}", self.event(other)),
                    };
                    by_source.entry(source).or_default().push(gap);
                }
                _ => {}
            }
        }
        for (source, clauses) in by_source {
            let from = source.map_or("the initial value".to_string(), |write| self.event(write));
            said.push(format!("from {from} {}", clauses.join(", ")));
        }
        let sees = if self.trace.event(at).op.reads() { "sees" } else { "finds" };
        format!("{event} of {} {sees} the latest value: {}", self.thread(at), said.join("; "))
    }

    fn recorded(&self, at: EventId, with: EventId) -> String {
        let value = self.observed.read(at).filter(|_| self.model != Model::Avp);
        let what = match (value, self.observed.source(at)) {
            (Some(value), _) => format!("the recorded value {}", shown_value(value)),
            (None, Some(write)) => format!("what {} wrote, as in the run", self.event(write)),
            (None, None) => "the initial value, as in the run".to_string(),
        };
        if with == at {
            format!("it is {what}")
        } else {
            format!("it is {what}, since {} goes on with {}", self.thread(at), self.event(with))
        }
    }

    fn gives(&self, at: EventId, source: Option<EventId>) -> String {
        let Some(write) = source else {
            let var = self.trace.event(at).op.var().map(|var| &self.trace.vars[var.index()]);
            let init = var.and_then(|var| var.init.as_ref()).map_or(String::new(), ToString::to_string);
            return format!("it is {init}");
        };
        let mut text = String::new();
        match self.trace.event(write).op.written() {
            Some(term) => smtlib::print(&mut text, &self.trace.terms, term, &|local| self.trace.local_name(local)),
            None => text = self.observed.written(write).map_or(String::new(), ToString::to_string),
        }
        let sources = self.leaves_of(write);
        format!("it is {text}{sources}")
    }

    fn leaves_of(&self, write: EventId) -> String {
        let Some(term) = self.trace.event(write).op.written() else { return String::new() };
        let definitions: BTreeMap<EventId, &str> =
            self.trace.terms.leaves(term).into_iter().map(|l| (l.definition, self.trace.local_name(l))).collect();
        let shown: Vec<String> = definitions.iter().map(|(event, name)| format!("{name} of {event}")).collect();
        if shown.is_empty() { String::new() } else { format!(" with {}", shown.join(" and ")) }
    }

    fn exclusion(&self, one: EventId, other: EventId) -> String {
        let (lock, is_once) = self.lock_of(one);
        let (kind, sections) = if is_once { ("once", "initialisations") } else { ("lock", "critical sections") };
        format!("{kind} {lock}: the {sections} {} and {} exclude each other", self.region(one), self.region(other))
    }

    fn last_attempt(&self, failed: EventId, made: EventId) -> String {
        let (once, _) = self.lock_of(made);
        let (failed, made) = (self.region(failed), self.region(made));
        format!(
            "once {once}: the initialisation {made} is the last, so that the one {failed}, which failed, is over before"
        )
    }

    /// The name of what a region starts to hold, and whether it is an initialisation.
    fn lock_of(&self, start: EventId) -> (&str, bool) {
        let lock = self.trace_index.region_from(start).map_or("", |region| &*self.trace.syncs[region.lock.index()].key);
        (lock, matches!(self.trace.event(start).op, Op::OnceBegin { .. }))
    }

    /// `from 3 (once begin o) to 5 (once fail o) of thread 1`.
    fn region(&self, start: EventId) -> String {
        let end = self.trace_index.region_from(start).and_then(|region| region.end);
        let until = match end {
            Some(end) => format!("to {}", self.event(end)),
            None if self.lock_of(start).1 => "and is never over".to_string(),
            None => "and is never given back".to_string(),
        };
        format!("from {} {until} of {}", self.event(start), self.thread(start))
    }

    fn signalled(&self, wake: EventId) -> String {
        let waiting = self.trace_index.waiting_until(wake);
        let wait = waiting.map_or(String::new(), |waiting| format!(" between {} and itself", self.event(waiting.wait)));
        let signals = waiting.map_or(&[][..], |waiting| &*self.trace_index.signals[waiting.cond.index()]);
        let own = self.trace.event(wake).thread;
        let others: Vec<EventId> =
            signals.iter().copied().filter(|signal| self.trace.event(*signal).thread != own).collect();
        format!(
            "{} of {} needs a signal{wait}: {}",
            self.event(wake),
            self.thread(wake),
            if others.is_empty() { "there is none".to_string() } else { self.one_of(&others) }
        )
    }

    /// A choice of events, of many only the first.
    fn one_of(&self, events: &[EventId]) -> String {
        let mut shown: Vec<String> = events.iter().take(MOST_CHOICES).map(|event| self.event(*event)).collect();
        if events.len() > MOST_CHOICES {
            shown.push(format!("one of {} more", events.len() - MOST_CHOICES));
        }
        shown.join(" or ")
    }

    fn counted(&self, down: EventId) -> String {
        let Op::Down { sem } = self.trace.event(down).op else { return self.event(down) };
        let posts = &self.trace_index.posts[sem.index()];
        let from = if posts.is_empty() { String::new() } else { format!(": {}", self.one_of(posts)) };
        format!("{} of {} needs a count above zero{from}", self.event(down), self.thread(down))
    }

    /// What follows, as clauses.
    pub fn conclusions(&self, so: &[Conclusion]) -> Vec<String> {
        let mut clauses = Vec::new();
        let mut ruled_out: BTreeMap<EventId, Vec<String>> = BTreeMap::new();
        for conclusion in so {
            match *conclusion {
                Conclusion::Before(a, b) => clauses.push(format!("{a} comes before {b}")),
                Conclusion::ReadsFrom(at, write) => clauses.push(format!("{at} finds {}", value_of(write))),
                Conclusion::ReadsNotFrom(at, write) => ruled_out.entry(at).or_default().push(value_of(write)),
                Conclusion::Happens(event) => clauses.push(format!("{event} happens, too")),
                Conclusion::HappensNot(event) => clauses.push(format!("{event} does not happen")),
                Conclusion::Contradiction => clauses.push("nothing is left: this contradicts what is supposed".into()),
            }
        }
        clauses.extend(ruled_out.into_iter().map(|(at, values)| format!("{at} does not find {}", values.join(" or "))));
        clauses
    }
}

fn value_of(source: Option<EventId>) -> String {
    source.map_or("the initial value".to_string(), |write| format!("what {write} wrote"))
}

/// A sentence with its first letter large.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
