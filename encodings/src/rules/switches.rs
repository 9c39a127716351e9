//! A bound on the number of context switches between the first and the last access of a violation.
//!
//! Marks (`marks.rs`) divide a schedule into stretches. The first mark comes before the violation's first access; each step from there on
//! belongs to the thread that owns its stretch, and one thread owns a stretch. There is one constraint for each step and stretch. Some
//! marks may follow each other at once, so a schedule with fewer switches fits, too.
//!
//! Source: Fusion, section 7, which says that such constraints can be added. The bound is that of M. Musuvathi and S. Qadeer,
//! "Iterative context bounding for systematic testing of multithreaded programs", PLDI 2007, but all switches count.

use crate::encoder::Encoder;
use crate::marks;
use crate::origin::Origin;
use crate::term::Atom;
use foretrace_trace::{EventId, TermId, ThreadId};

impl Encoder<'_> {
    /// The goals that tie the marks to a violation between these two accesses; none without a bound.
    pub(super) fn span(&mut self, first: EventId, last: EventId) -> Vec<TermId> {
        let Some(switches) = self.rules.switches else { return Vec::new() };
        // The last access has a place, too: it is in a stretch of its thread, and what has a place after it does not count.
        let mut goals = vec![self.after_first_mark(first), self.after_first_mark(last)];
        if self.rules.complete {
            let end = marks::mark(self.view.trace, switches, switches + 1);
            goals.push(self.before(last, end));
        }
        goals
    }

    /// The term for "switches after this access count"; true without a bound.
    pub(super) fn after_first_mark(&mut self, access: EventId) -> TermId {
        match self.rules.switches {
            None => self.build.truth(),
            Some(switches) => {
                let mark = marks::mark(self.view.trace, switches, 0);
                self.before(mark, access)
            }
        }
    }

    /// The last event of the trace, marks apart.
    pub(super) fn last_event(&self) -> Option<EventId> {
        let marks = self.rules.switches.map_or(0, marks::count);
        self.view.trace.events.len().checked_sub(marks + 1).map(EventId::from_index)
    }

    /// Says of every ordered step that it lies in a stretch of its thread. That may bring in more steps: then of those, too.
    pub(super) fn divide(&mut self, go_on: &mut dyn FnMut(usize) -> bool) -> Option<()> {
        let Some(switches) = self.rules.switches else { return Some(()) };
        let of_marks = self.view.trace.event(marks::mark(self.view.trace, switches, 0)).thread;
        loop {
            let steps: Vec<EventId> = self.ordered().filter(|step| !self.cone.divided.contains(step)).collect();
            if steps.is_empty() {
                return Some(());
            }
            for step in steps {
                self.cone.divided.insert(step);
                let thread = self.view.trace.event(step).thread;
                if thread != of_marks {
                    self.hold(thread, switches);
                    self.in_stretch(step, thread, switches);
                }
                go_on(self.build.terms.len()).then_some(())?;
            }
            self.settle(go_on)?;
        }
    }

    /// A step between two marks is of the thread that holds the stretch.
    fn in_stretch(&mut self, step: EventId, thread: ThreadId, switches: u32) {
        let included = self.included(step);
        let absent = self.build.not(included);
        for stretch in 0..=switches {
            let mark = marks::mark(self.view.trace, switches, stretch);
            let after = self.before(mark, step);
            let mut ways = vec![absent, self.build.not(after), self.build.atom(Atom::Holder { stretch, thread })];
            // A prefix ends with the violation.
            if stretch < switches || self.rules.complete {
                let next = marks::mark(self.view.trace, switches, stretch + 1);
                ways.push(self.before(next, step));
            }
            let term = self.build.or(ways);
            self.assert(Origin::Stretch(step), step, term);
        }
    }

    /// No stretch is held by this thread and another one.
    fn hold(&mut self, thread: ThreadId, switches: u32) {
        if self.cone.holders.contains(&thread) {
            return;
        }
        for other in self.cone.holders.clone() {
            for stretch in 0..=switches {
                let [one, other] = [thread, other].map(|thread| {
                    let holder = self.build.atom(Atom::Holder { stretch, thread });
                    self.build.not(holder)
                });
                let term = self.build.or([one, other]);
                let about = marks::mark(self.view.trace, switches, stretch);
                self.assert(Origin::Stretch(about), about, term);
            }
        }
        self.cone.holders.push(thread);
    }
}
