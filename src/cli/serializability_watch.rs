//! Which blocks the order of events violates, watched while the events of a trace come: what is meant to be atomic is found out first.

use foretrace::serializability::Chosen;
use foretrace_serializability::{Seen, StreamMonitor};
use foretrace_trace::{Atomic, BlockKind, Event, EventId, Op, Problem, Trace, VarId};
use foretrace_walker::Pattern;

/// Where `auto` is asked for and no mark has come, this many events say what there is.
pub const FIRST_EVENTS: usize = 1 << 16;

/// Watches events that come.
pub struct Watch {
    atomic: Atomic,
    vars: Option<Pattern>,
    /// None until it is known what is meant to be atomic.
    monitor: Option<StreamMonitor>,
    /// The events until then.
    waiting: Vec<(EventId, Event)>,
    /// Per variable, whether it counts.
    counted: Vec<bool>,
}

impl Watch {
    /// Nothing has come.
    pub fn new(atomic: Atomic, vars: Option<&str>) -> Watch {
        let monitor = (atomic != Atomic::Auto).then(|| StreamMonitor::new(atomic));
        Watch { atomic, vars: vars.map(Pattern::new), monitor, waiting: Vec::new(), counted: Vec::new() }
    }

    /// What is meant to be atomic, once that is known.
    pub fn chosen(&self) -> Option<Chosen> {
        let monitor = self.monitor.as_ref()?;
        Some(match self.atomic {
            Atomic::Auto if monitor.is_of_bare() => Chosen::Bare,
            Atomic::Auto => Chosen::All,
            atomic => Chosen::Only(atomic),
        })
    }

    /// Takes the next event, and gives what is found.
    ///
    /// # Errors
    /// Where a block comes too late for `auto`.
    pub fn event(&mut self, trace: &Trace, id: EventId, event: &Event) -> Result<Vec<Seen>, Problem> {
        let mut found = Vec::new();
        self.resolve(trace, event, &mut found)?;
        if self.monitor.is_some() {
            self.see(trace, id, event, &mut found);
            return Ok(found);
        }
        self.waiting.push((id, event.clone()));
        if self.waiting.len() >= FIRST_EVENTS {
            self.begin(trace, &mut found);
        }
        Ok(found)
    }

    /// What is found in the end.
    pub fn end(&mut self, trace: &Trace) -> Vec<Seen> {
        let mut found = Vec::new();
        self.begin(trace, &mut found);
        if let Some(monitor) = &mut self.monitor {
            monitor.end(&mut found);
        }
        found
    }

    /// A mark says what `auto` stands for, if it comes in time.
    fn resolve(&mut self, trace: &Trace, event: &Event, found: &mut Vec<Seen>) -> Result<(), Problem> {
        let Op::Begin { kind, .. } = event.op else { return Ok(()) };
        if self.atomic != Atomic::Auto {
            return Ok(());
        }
        let is_late = match &self.monitor {
            None if kind == BlockKind::Mark => {
                self.atomic = Atomic::Marked;
                self.begin(trace, found);
                return Ok(());
            }
            None => false,
            Some(monitor) => kind == BlockKind::Mark || monitor.is_of_bare(),
        };
        if !is_late {
            return Ok(());
        }
        let late = format!("the first {} block", kind.name());
        let expected = format!("it among the first {FIRST_EVENTS} events, or --atomic that says what is atomic");
        Err(Problem::new(late, expected))
    }

    /// Begins to watch, by what has come so far.
    fn begin(&mut self, trace: &Trace, found: &mut Vec<Seen>) {
        if self.monitor.is_some() {
            return;
        }
        let has_blocks = self.waiting.iter().any(|(_, event)| matches!(event.op, Op::Begin { .. }));
        let is_bare = self.atomic == Atomic::Auto && !has_blocks;
        self.monitor = Some(if is_bare { StreamMonitor::of_bare() } else { StreamMonitor::new(self.atomic) });
        for (id, event) in std::mem::take(&mut self.waiting) {
            self.see(trace, id, &event, found);
        }
    }

    fn see(&mut self, trace: &Trace, id: EventId, event: &Event, found: &mut Vec<Seen>) {
        let counts = event.op.var().is_some_and(|var| self.counts(trace, var));
        if let Some(monitor) = &mut self.monitor {
            monitor.see(id, event, counts, found);
        }
    }

    /// Whether a variable counts.
    fn counts(&mut self, trace: &Trace, var: VarId) -> bool {
        for var in &trace.vars[self.counted.len()..] {
            let fits = self.vars.as_ref().is_none_or(|pattern| pattern.fits(var.shown()));
            self.counted.push(fits && !var.is_of_library());
        }
        self.counted[var.index()]
    }

    /// Whether a variable counts that some event has accessed.
    pub fn counted(&self, var: VarId) -> bool {
        self.counted.get(var.index()).copied().unwrap_or(false)
    }
}
