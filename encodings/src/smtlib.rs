//! Queries as commented SMT-LIB 2, which any solver reads.
//!
//! The order atom is difference logic: a step is an integer, and steps with one number are in the observed order.
//! Constraints stand by rule family and event, so that a script can be read.

use crate::encoder::{Constraint, Encoder};
use crate::rules::Query;
use crate::term::Atom;
use foretrace_trace::smtlib;
use foretrace_trace::{EventId, Leaf, Node, Op, SyncId, TermId, Trace, Triple};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The name of an atom: `in7`, `v7`, `rf7_3`, `rf7_init`, `token7`, `b3_7` for "3 comes before 7".
pub fn name(atom: &Atom) -> String {
    match atom {
        Atom::Before(a, b) => format!("b{a}_{b}"),
        Atom::Included(event) => format!("in{event}"),
        Atom::Value { at, .. } => format!("v{at}"),
        Atom::ReadsFrom { at, write: Some(write) } => format!("rf{at}_{write}"),
        Atom::ReadsFrom { at, write: None } => format!("rf{at}_init"),
        Atom::Token(event) => format!("token{event}"),
        Atom::Open(step) => format!("open{step}"),
        Atom::Reached { question, at } => format!("path{question}_{at}"),
        Atom::Holder { stretch, thread } => format!("hold{stretch}_{}", thread.0),
        Atom::Pins => "pins".to_string(),
    }
}

/// A query with all constraints of its encoder, as a script that ends in `check-sat`.
pub fn script(encoder: &Encoder<'_>, query: &Query) -> String {
    let terms = &encoder.build().terms;
    let mut constraints: Vec<&Constraint> = encoder.constraints().iter().collect();
    constraints.sort_by_key(|constraint| (constraint.rule(), constraint.about)); // a stable sort
    let mut roots: Vec<TermId> = constraints.iter().map(|constraint| constraint.term).collect();
    roots.extend(&query.goals);
    let mut atoms = BTreeSet::new();
    for term in terms.reachable(&roots) {
        if let Node::Leaf(atom) = terms.node(term) {
            atoms.insert(*atom);
        }
    }
    let names: FxHashMap<Atom, String> = atoms.iter().map(|atom| (*atom, name(atom))).collect();
    let mut script = Script { trace: encoder.view().trace, out: String::new() };
    script.question(query, encoder.is_complete());
    script.legend(&atoms);
    let Triple { first, remote, second } = query.triple;
    let about = constraints.iter().map(|constraint| constraint.about).chain([first, remote, second]);
    script.events(atoms.iter().flat_map(events_of).chain(about));
    script.declarations(&atoms);
    let mut heading = None;
    for constraint in &constraints {
        let about = (constraint.rule(), constraint.about);
        if heading.replace(about) != Some(about) {
            script.comment(&format!("{}: {}", constraint.rule(), script.describe(constraint.about)));
        }
        script.assert(|out| smtlib::print(out, terms, constraint.term, &|atom| names[atom].as_str()));
    }
    script.comment(&format!("violation: (f, r, s) = {}", query.triple));
    for goal in &query.goals {
        script.assert(|out| smtlib::print(out, terms, *goal, &|atom| names[atom].as_str()));
    }
    if atoms.contains(&Atom::Pins) {
        script.comment("pinned values are as observed");
        script.assert(|out| smtlib::print(out, terms, query.pins, &|atom| names[atom].as_str()));
    }
    script.out.push_str("(check-sat)\n");
    script.out
}

/// What an atom's name means, in words.
fn meaning(atom: &Atom) -> &'static [&'static str] {
    match atom {
        Atom::Before(..) => &[
            "o<i>: the place of event i, and of all parts of its step; at equal places, lower numbers come first",
            "b<i>_<j>: event i comes before event j; where it is false, j comes before i",
        ],
        Atom::Included(_) => &["in<i>: event i is in the prefix, and with it the assumes right before it"],
        Atom::Value { .. } => {
            &["v<i>: what the variable of event i holds just before it, which is what a read returns"]
        }
        Atom::ReadsFrom { .. } => &["rf<i>_<j>: event j wrote that; rf<i>_init: it is the initial value"],
        Atom::Token(_) => &["token<i>: which signal or post the wake or down i uses up; no two use the same"],
        Atom::Open(_) => &["open<i>: the prefix ends inside of the step of several parts that begins with event i"],
        Atom::Reached { .. } => &["path<n>_<i>: a path of conflicts and program order leads from the block to event i"],
        Atom::Holder { .. } => &["hold<n>_<t>: what comes between the marks n and n + 1 is of the t-th thread, from 0"],
        Atom::Pins => &["pins: values that went where they are not tracked are as observed"],
    }
}

/// The events that an atom speaks of.
fn events_of(atom: &Atom) -> impl Iterator<Item = EventId> + use<> {
    let (one, other) = match *atom {
        Atom::Before(a, b) => (Some(a), Some(b)),
        Atom::ReadsFrom { at, write } => (Some(at), write),
        Atom::Included(event)
        | Atom::Token(event)
        | Atom::Open(event)
        | Atom::Value { at: event, .. }
        | Atom::Reached { at: event, .. } => (Some(event), None),
        Atom::Holder { .. } | Atom::Pins => (None, None),
    };
    one.into_iter().chain(other)
}

/// A script in the making. Writing to a string cannot fail.
struct Script<'t> {
    trace: &'t Trace,
    out: String,
}

impl Script<'_> {
    fn comment(&mut self, text: &str) {
        let text = text.replace(char::is_control, " ");
        let _ = writeln!(self.out, "{}", format!("; {text}").trim_end());
    }

    fn assert(&mut self, term: impl FnOnce(&mut String)) {
        self.out.push_str("(assert ");
        term(&mut self.out);
        self.out.push_str(")\n");
    }

    /// What `sat` means.
    fn question(&mut self, query: &Query, complete: bool) {
        let Triple { first, remote, second } = query.triple;
        let what = if complete { "an execution of all events" } else { "a prefix of an execution" };
        self.comment(&format!("Is there {what} in which f, r and s happen in this order? sat: yes; unsat: no."));
        for (letter, event) in [("f", first), ("r", remote), ("s", second)] {
            self.comment(&format!("  {letter} = {}", self.describe(event)));
        }
        if let Some(pattern) = query.pattern {
            let [f, r, s] = pattern.writes().map(|writes| if writes { "writes" } else { "reads" });
            self.comment("The values must be such that the order matters (guarded independence) of");
            self.comment(&format!("  f, which {f}, and r, which {r}; and of r and s, which {s}."));
        }
        self.comment("");
    }

    /// What the names mean that occur.
    fn legend(&mut self, atoms: &BTreeSet<Atom>) {
        self.comment("Names, for events of numbers i and j:");
        let mut kinds: Vec<&[&str]> = atoms.iter().map(meaning).collect();
        kinds.dedup(); // atoms are sorted by kind
        for line in kinds.into_iter().flatten() {
            self.comment(&format!("  {line}"));
        }
    }

    /// What the events do that are mentioned.
    fn events(&mut self, events: impl Iterator<Item = EventId>) {
        self.comment("Events:");
        for event in events.collect::<BTreeSet<EventId>>() {
            self.comment(&format!("  {}", self.describe(event)));
        }
    }

    fn declarations(&mut self, atoms: &BTreeSet<Atom>) {
        self.out.push_str("(set-logic ALL)\n");
        let steps: BTreeSet<EventId> =
            atoms.iter().filter(|atom| matches!(atom, Atom::Before(..))).flat_map(events_of).collect();
        for step in steps {
            let _ = writeln!(self.out, "(declare-const o{step} Int)");
        }
        for atom in atoms {
            let name = name(atom);
            let _ = match atom {
                Atom::Before(a, b) => writeln!(self.out, "(define-fun {name} () Bool (<= o{a} o{b}))"),
                _ => writeln!(self.out, "(declare-const {name} {})", atom.sort()),
            };
        }
    }

    /// An event in a comment: number, thread, kind, what it is about, part of a step, source location.
    fn describe(&self, id: EventId) -> String {
        let event = self.trace.event(id);
        let thread = self.trace.threads[event.thread.index()].number;
        let mut text = format!("{id} t{thread} {}", event.op.kind());
        if let Some(object) = self.object(&event.op) {
            let _ = write!(text, " {object}");
        }
        if let Some((k, n)) = event.part {
            let _ = write!(text, ", part {k} of {n}");
        }
        if let Some(loc) = self.trace.loc(id) {
            let _ = write!(text, " at {loc}");
        }
        text
    }

    /// The variable, synchronisation object or thread that an event is about.
    fn object(&self, op: &Op) -> Option<String> {
        let sync = |sync: SyncId| self.trace.syncs[sync.index()].key.to_string();
        match op {
            Op::Read { var, .. } | Op::Write { var, .. } | Op::Rmw { var, .. } => {
                Some(self.trace.vars[var.index()].shown().to_string())
            }
            Op::Acquire { lock } | Op::Release { lock } | Op::AcquireShared { lock } | Op::ReleaseShared { lock } => {
                Some(sync(*lock))
            }
            Op::Busy { lock } => Some(sync(*lock)),
            Op::Wait { cond, lock } | Op::Wake { cond, lock, .. } => Some(format!("{}, {}", sync(*cond), sync(*lock))),
            Op::Signal { cond } | Op::Broadcast { cond } => Some(sync(*cond)),
            Op::Post { sem } | Op::Down { sem } => Some(sync(*sem)),
            Op::OnceBegin { once } | Op::OnceEnd { once } | Op::OncePass { once } | Op::OnceFail { once } => {
                Some(sync(*once))
            }
            Op::Arrive { barrier, round } | Op::Depart { barrier, round } => {
                Some(format!("{}, round {round}", sync(*barrier)))
            }
            Op::Fork { child } | Op::Join { child } => Some(format!("t{}", self.trace.threads[child.index()].number)),
            _ => None,
        }
    }
}
