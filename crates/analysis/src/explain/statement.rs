//! Instances of rules as statements, one for each sentence of an argument.

use foretrace_encodings::{Origin, TraceView};
use foretrace_index::TraceIndex;
use foretrace_trace::{EventId, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// What a sentence states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// A thread does these in this order, and none without those before it. What stands between and matters for nothing
    /// else is left out.
    Chain(Vec<EventId>),
    /// A fork before the child's first event, its last before a join, an arrive before a depart.
    After {
        /// What comes first.
        earlier: EventId,
        /// What comes after it.
        later: EventId,
    },
    /// A step of several events happens as a whole.
    WholeStep(EventId),
    /// The value just before an access is that of the latest write.
    Reads {
        /// The access.
        at: EventId,
        /// What of it is needed.
        parts: Vec<Origin>,
    },
    /// A condition of the way that the execution took.
    Condition {
        /// The event that has it.
        about: EventId,
        /// Whether it pins a value.
        pinned: bool,
    },
    /// Two regions of a lock do not overlap.
    Exclusion {
        /// The start of one.
        one: EventId,
        /// The start of the other.
        other: EventId,
    },
    /// No initialisation begins after one that did not fail.
    LastAttempt {
        /// The start of one that failed.
        failed: EventId,
        /// The start of the one that did not.
        made: EventId,
    },
    /// A failed try finds the lock held.
    Busy(EventId),
    /// A wake has a signal.
    Signalled(EventId),
    /// No two wakes use up one signal.
    OwnSignal {
        /// A wake.
        one: EventId,
        /// Another.
        other: EventId,
    },
    /// A down has a token.
    Counted(EventId),
    /// No two downs take one token.
    OwnToken {
        /// A down.
        one: EventId,
        /// Another.
        other: EventId,
    },
}

impl Statement {
    /// A name for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Statement::Chain(_) => "program-order",
            Statement::After { .. } => "fork-join-barrier",
            Statement::WholeStep(_) => "step",
            Statement::Reads { .. } => "reads",
            Statement::Condition { pinned: false, .. } => "branch",
            Statement::Condition { pinned: true, .. } => "pin",
            Statement::Exclusion { .. } => "lock",
            Statement::LastAttempt { .. } => "once",
            Statement::Busy(_) => "failed-try",
            Statement::Signalled(_) => "signal",
            Statement::OwnSignal { .. } => "own-signal",
            Statement::Counted(_) => "semaphore",
            Statement::OwnToken { .. } => "own-token",
        }
    }

    /// Whether it holds of the trace's structure alone, whatever order is chosen.
    pub fn is_plain_order(&self) -> bool {
        matches!(self, Statement::Chain(_) | Statement::After { .. } | Statement::WholeStep(_))
    }

    /// The events that it speaks of, each once.
    pub fn events(&self) -> Vec<EventId> {
        match self {
            Statement::Chain(events) => events.clone(),
            Statement::After { earlier, later } => vec![*earlier, *later],
            Statement::WholeStep(event)
            | Statement::Condition { about: event, .. }
            | Statement::Busy(event)
            | Statement::Signalled(event)
            | Statement::Counted(event) => vec![*event],
            Statement::Exclusion { one, other }
            | Statement::OwnSignal { one, other }
            | Statement::OwnToken { one, other }
            | Statement::LastAttempt { failed: one, made: other } => vec![*one, *other],
            Statement::Reads { at, parts } => {
                let mut events = BTreeSet::from([*at]);
                for part in parts {
                    match part {
                        Origin::Gives { source, .. } => events.extend(*source),
                        Origin::WrittenBefore { source, .. } => {
                            events.insert(*source);
                        }
                        Origin::NotBetween { source, other, .. } => {
                            events.extend(*source);
                            events.insert(*other);
                        }
                        _ => {}
                    }
                }
                events.into_iter().collect()
            }
        }
    }
}

/// The statements that say what these instances do, plain orders first; each with its instances. `asked` are the accesses that the
/// question is about.
pub fn statements(
    view: TraceView<'_>,
    asked: &BTreeSet<EventId>,
    origins: &BTreeSet<Origin>,
) -> Vec<(Statement, Vec<Origin>)> {
    let trace = view.trace;
    let mut orders: Vec<(Statement, Vec<Origin>)> = chains(view, origins);
    let mut reads: BTreeMap<EventId, Vec<Origin>> = BTreeMap::new();
    let mut others = Vec::new();
    for origin in origins {
        let statement = match *origin {
            Origin::Order { earlier, later } if trace.event(earlier).thread == trace.event(later).thread => continue,
            Origin::Order { earlier, later } => Statement::After { earlier, later },
            Origin::WholeStep(event) => Statement::WholeStep(event),
            Origin::SomeSource { at }
            | Origin::Gives { at, .. }
            | Origin::WrittenBefore { at, .. }
            | Origin::NotBetween { at, .. }
            | Origin::Recorded { read: at, .. } => {
                reads.entry(at).or_default().push(*origin);
                continue;
            }
            Origin::Condition { about, pinned } => Statement::Condition { about, pinned },
            Origin::Exclusion { one, other } => Statement::Exclusion { one, other },
            Origin::LastAttempt { failed, made } => Statement::LastAttempt { failed, made },
            Origin::Busy(event) => Statement::Busy(event),
            Origin::Signalled(event) => Statement::Signalled(event),
            Origin::OwnSignal { one, other } => Statement::OwnSignal { one, other },
            Origin::Counted(event) => Statement::Counted(event),
            Origin::OwnToken { one, other } => Statement::OwnToken { one, other },
            // What a path needs belongs to the question, as the order of a triple's accesses does.
            Origin::OnPath(_) | Origin::Stretch(_) => continue,
        };
        let list = if statement.is_plain_order() { &mut orders } else { &mut others };
        list.push((statement, vec![*origin]));
    }
    others.extend(reads.into_iter().map(|(at, parts)| (Statement::Reads { at, parts: parts.clone() }, parts)));
    others.sort_by_key(|(statement, _)| (rank(statement), statement.events()));
    fold(&mut orders, &others, view.trace_index, asked);
    orders.sort_by_key(|(statement, _)| statement.events());
    orders.into_iter().chain(others).collect()
}

/// Leaves out of chains what nothing else speaks of.
fn fold(
    orders: &mut [(Statement, Vec<Origin>)],
    others: &[(Statement, Vec<Origin>)],
    trace_index: &TraceIndex,
    asked: &BTreeSet<EventId>,
) {
    let mut spoken = asked.clone();
    for (statement, _) in others.iter().chain(orders.iter().filter(|(other, _)| !matches!(other, Statement::Chain(_))))
    {
        spoken.extend(statement.events());
        spoken.extend(ends(statement, trace_index));
    }
    for (statement, _) in orders {
        let Statement::Chain(events) = statement else { continue };
        if events.iter().filter(|event| spoken.contains(event)).count() > 1 {
            events.retain(|event| spoken.contains(event));
        }
    }
}

/// Where the regions and waits of a statement end or begin.
fn ends(statement: &Statement, trace_index: &TraceIndex) -> Vec<EventId> {
    match statement {
        Statement::Exclusion { one, other } | Statement::LastAttempt { failed: one, made: other } => {
            let of = |start: EventId| trace_index.region_from(start).and_then(|region| region.end);
            [*one, *other].into_iter().filter_map(of).collect()
        }
        Statement::Signalled(wake) => {
            trace_index.waiting_until(*wake).map(|waiting| waiting.wait).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// What is said first where nothing else decides: conditions ask for values, values for orders, locks exclude orders.
fn rank(statement: &Statement) -> u8 {
    match statement {
        Statement::Condition { .. } => 1,
        Statement::Reads { .. } => 2,
        Statement::Signalled(_) | Statement::Counted(_) | Statement::Busy(_) => 3,
        Statement::OwnSignal { .. } | Statement::OwnToken { .. } => 4,
        Statement::Exclusion { .. } | Statement::LastAttempt { .. } => 5,
        _ => 0,
    }
}

/// Orders within threads, those of one thread as one.
fn chains(view: TraceView<'_>, origins: &BTreeSet<Origin>) -> Vec<(Statement, Vec<Origin>)> {
    let mut chains: BTreeMap<ThreadId, (Vec<EventId>, Vec<Origin>)> = BTreeMap::new();
    for origin in origins {
        let Origin::Order { earlier, later } = *origin else { continue };
        let thread = view.trace.event(earlier).thread;
        if thread == view.trace.event(later).thread {
            let (events, links) = chains.entry(thread).or_default();
            events.extend([earlier, later]);
            links.push(*origin);
        }
    }
    let in_order = |(mut events, links): (Vec<EventId>, Vec<Origin>)| {
        events.sort_unstable_by_key(|event| view.trace_index.position(*event));
        events.dedup();
        (Statement::Chain(events), links)
    };
    chains.into_values().map(in_order).collect()
}
