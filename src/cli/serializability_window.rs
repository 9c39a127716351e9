//! `foretrace serializability --window`: blocks of a trace that does not end, or does not fit into memory, decided while its events come.

use super::choices::Format;
use super::outcome::{Outcome, say, since_start};
use super::serializability_stream::{Find, MOST_WAITING, tell, told, write_line};
use super::serializability_watch::Watch;
use foretrace::options::strongest_model;
use foretrace::serializability::{Bounds, Chosen, Decided, Found, Method, Verdict, Windowed};
use foretrace_report::thread_name;
use foretrace_serializability::{Choices, Decision};
use foretrace_trace::{Atomic, EventId, Lent, Model, NameId, Op, TraceTail, file};
use serde::Serialize;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// What is asked for.
#[derive(Clone)]
pub struct Asked {
    /// The trace.
    pub path: PathBuf,
    /// What is meant to be atomic.
    pub atomic: Atomic,
    /// Which variables count.
    pub vars: Option<String>,
    /// The model; else the strongest that the trace's data allows.
    pub model: Option<Model>,
    /// How blocks are judged, but for the model.
    pub choices: Choices,
    /// Who decides.
    pub method: Method,
    /// Most events that are kept.
    pub window: u64,
    /// How to report.
    pub format: Format,
    /// Time limit of one block.
    pub block_limit: Duration,
    /// Time limit of the whole run.
    pub time_limit: Option<Duration>,
}

/// Reads events until they end, the limit is reached or Ctrl-C comes, and writes each violated block as it is found.
pub fn watch(asked: &Asked, stop: &Arc<AtomicBool>) -> anyhow::Result<Outcome> {
    let (sender, messages) = sync_channel(MOST_WAITING);
    let events = Arc::new(AtomicU64::new(0));
    let reading = (asked.clone(), Arc::clone(stop), Arc::clone(&events));
    std::thread::Builder::new().spawn(move || {
        let (asked, stop, events) = reading;
        let result =
            Reading { asked: &asked, stop: &stop, events: &events, sender: &sender, shown: RefCell::default() }.read();
        if let Err(error) = result {
            let _ = sender.send(Err(error)); // no one to tell
        }
    })?;
    let must_end = || stop.load(Ordering::SeqCst) || asked.time_limit.is_some_and(|limit| since_start() >= limit);
    let mut total = Total::default();
    total.ended = tell(&messages, &must_end, &mut |message: Message| {
        total.add(&message);
        match message {
            Message::Violated(block) => Ok(write_line(asked.format, &Line::Block(block))?),
            Message::Undone => {
                let note = "a thread began that nothing forked: blocks found safe before count as cut";
                say(format_args!("note: {note}"));
                Ok(())
            }
            Message::Decided(_) => Ok(()),
        }
    })?;
    total.events = events.load(Ordering::Relaxed);
    let outcome = total.outcome();
    write_line(asked.format, &Line::Total(total))?;
    Ok(outcome)
}

/// What the thread that reads tells.
enum Message {
    /// A block is violated.
    Violated(Box<Violated>),
    /// One is decided, and not violated.
    Decided(Verdict),
    /// What was called safe may not be.
    Undone,
}

/// A violated block.
#[derive(Serialize)]
struct Violated {
    /// Whether the recorded order itself violates it.
    observed: bool,
    #[serde(flatten)]
    block: Find,
    /// The violation path, where another order does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    path: Vec<Step>,
    /// The schedule: first this many events as recorded, then these.
    #[serde(skip_serializing_if = "Option::is_none")]
    comes_first: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    schedule: Vec<EventId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_counted: Option<&'static str>,
}

/// An access on a path.
#[derive(Serialize)]
struct Step {
    event: EventId,
    thread: u64,
    #[serde(skip)]
    thread_name: String,
    op: &'static str,
    var: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    loc: Option<String>,
}

/// What was decided in all.
#[derive(Serialize, Default, Clone, Copy)]
struct Total {
    events: u64,
    /// Violated blocks, and of those the ones that the recorded order violates.
    violated: u64,
    observed: u64,
    /// No schedule of the whole trace violates these.
    safe: u64,
    /// No schedule of the events that were kept violates these.
    cut: u64,
    /// The time of a block was over.
    limit: u64,
    ended: bool,
    #[serde(skip)]
    counted: u64,
}

impl Total {
    fn add(&mut self, message: &Message) {
        match message {
            Message::Violated(block) => {
                self.violated += 1;
                self.observed += u64::from(block.observed);
                self.counted += u64::from(block.not_counted.is_none());
            }
            Message::Decided(Verdict::Safe) => self.safe += 1,
            Message::Decided(Verdict::Limit) => self.limit += 1,
            Message::Decided(_) => self.cut += 1,
            Message::Undone => self.cut += std::mem::take(&mut self.safe),
        }
    }

    fn outcome(&self) -> Outcome {
        match (self.counted, self.cut + self.limit, self.ended) {
            (1.., _, _) => Outcome::Found,
            (0, 0, true) => Outcome::Fine,
            _ => Outcome::Undecided,
        }
    }
}

/// A line of the report.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Block(Box<Violated>),
    Total(Total),
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Line::Block(block) => block.fmt(f),
            Line::Total(total) => total.fmt(f),
        }
    }
}

impl std::fmt::Display for Violated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.block.fmt(f)?;
        if self.observed {
            return write!(f, ", in the recorded order");
        }
        for Step { event, thread: _, thread_name, op, var, loc } in &self.path {
            let loc = loc.as_ref().map_or_else(String::new, |loc| format!(", {loc}"));
            write!(f, "\n    {thread_name}: {op} {var} (event {event}{loc})")?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Total {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Total { events, violated, observed, safe, cut, limit, ended, .. } = self;
        let so_far = if *ended { "" } else { " so far" };
        write!(f, "{violated} blocks violated ({observed} by the recorded order itself), {safe} safe, ")?;
        write!(f, "{cut} not violated within the window, {limit} not decided in time, {events} events{so_far}")
    }
}

/// The thread that reads.
struct Reading<'a> {
    asked: &'a Asked,
    stop: &'a AtomicBool,
    events: &'a AtomicU64,
    sender: &'a SyncSender<anyhow::Result<Message>>,
    /// First events of blocks that were shown as violated before they ended.
    shown: RefCell<BTreeSet<EventId>>,
}

impl Reading<'_> {
    fn read(&self) -> anyhow::Result<()> {
        let mut tail = file::tail(&self.asked.path)?;
        let data = tail.trace().data;
        let model = self.asked.model.unwrap_or(strongest_model(data));
        if data < model.needs() {
            anyhow::bail!("--model {model} needs a trace with more data, found data: {}", data.name());
        }
        let choices = Choices { model, ..self.asked.choices.clone() };
        let mut watch = Watch::new(self.asked.atomic, self.asked.vars.as_deref());
        let mut windowed = None;
        let mut roots = 0;
        while let Some(id) = tail.next()? {
            self.events.fetch_add(1, Ordering::Relaxed);
            let Some(event) = tail.trace().events.last() else { continue };
            let found = watch.event(tail.trace(), id, event);
            let found = found.map_err(|late| tail.refused(id, late.found, late.expected))?;
            if windowed.is_none() {
                windowed = watch.chosen().map(|chosen| self.begin(chosen, &choices));
            }
            for seen in found {
                if let Some(windowed) = &mut windowed {
                    windowed.is_violated(seen.first, seen.kind);
                }
                if !self.shown.borrow().contains(&seen.first) {
                    self.send(observed(told(tail.trace(), seen)))?;
                }
            }
            if tail.roots() > roots {
                roots = tail.roots();
                if windowed.as_ref().is_some_and(Windowed::has_found_safe) {
                    self.send(Message::Undone)?;
                }
            }
            if let Some(windowed) = windowed.as_mut().filter(|windowed| windowed.is_due(&tail)) {
                self.decide(windowed, &mut tail, &watch, false)?;
            }
        }
        let found = watch.end(tail.trace());
        let chosen = watch.chosen().unwrap_or(Chosen::Only(self.asked.atomic));
        let mut windowed = windowed.unwrap_or_else(|| self.begin(chosen, &choices));
        for seen in found {
            windowed.is_violated(seen.first, seen.kind);
            self.send(observed(told(tail.trace(), seen)))?;
        }
        self.decide(&mut windowed, &mut tail, &watch, true)
    }

    fn begin(&self, chosen: Chosen, choices: &Choices) -> Windowed {
        Windowed::new(chosen, choices.clone(), self.asked.method, self.asked.window)
    }

    fn decide(&self, windowed: &mut Windowed, tail: &mut TraceTail, watch: &Watch, ended: bool) -> anyhow::Result<()> {
        let left = self.asked.time_limit.map(|limit| limit.saturating_sub(since_start()));
        let deadline = left.and_then(|left| Instant::now().checked_add(left));
        let bounds = Bounds { of_block: Some(self.asked.block_limit), deadline, work: None, stop: self.stop };
        let wanted = |var| watch.counted(var);
        windowed.decide(tail, ended, &wanted, &bounds, &mut |decided| {
            if let Some(Found { lent, blocks, judgement }) = &decided.found
                && decided.verdict == Verdict::Violated
                && !matches!(lent.trace.event(blocks.all()[judgement.block].last).op, Op::End { .. })
            {
                self.shown.borrow_mut().insert(decided.first);
            }
            self.send(match violated(&decided) {
                Some(violated) => Message::Violated(Box::new(violated)),
                None => Message::Decided(decided.verdict),
            })
        })
    }

    fn send(&self, message: Message) -> anyhow::Result<()> {
        self.sender.send(Ok(message)).map_err(|_| anyhow::anyhow!("no thread receives the events"))
    }
}

fn observed(block: Find) -> Message {
    let (path, comes_first, schedule, not_counted) = (Vec::new(), None, Vec::new(), None);
    Message::Violated(Box::new(Violated { observed: true, block, path, comes_first, schedule, not_counted }))
}

/// A block that another order violates, as it is told.
fn violated(decided: &Decided<'_>) -> Option<Violated> {
    let Found { lent, blocks, judgement } = decided.found.as_ref()?;
    let Decision::Violated(violation) = &judgement.decision else { return None };
    let block = &blocks.all()[judgement.block];
    let trace = &lent.trace;
    let text = |name: Option<NameId>| name.map(|name| trace.names.text(name).to_string());
    let path: Vec<Step> = violation.claim().events.iter().map(|event| step(lent, *event)).collect();
    let end = path.last()?;
    let block = Find {
        thread: trace.threads[block.thread.index()].number,
        thread_name: thread_name(trace, block.thread),
        label: text(block.label),
        kind: block.kind.name(),
        first: decided.first,
        loc: text(trace.event(block.first).loc),
        end: end.event,
        end_loc: end.loc.clone(),
        var: end.var.clone(),
    };
    let kept = violation.schedule().iter().filter(|event| event.index() >= lent.before());
    let schedule = kept.map(|event| lent.number(*event)).collect();
    let not_counted = judgement.is_dropped.then_some("failed-attempt");
    Some(Violated { observed: false, block, path, comes_first: Some(lent.gone()), schedule, not_counted })
}

fn step(lent: &Lent, id: EventId) -> Step {
    let (trace, event) = (&lent.trace, lent.trace.event(id));
    let var = event.op.var().map_or_else(String::new, |var| trace.vars[var.index()].shown().to_string());
    let loc = event.loc.map(|loc| trace.names.text(loc).to_string());
    Step {
        event: lent.number(id),
        thread: trace.threads[event.thread.index()].number,
        thread_name: thread_name(trace, event.thread),
        op: event.op.kind(),
        var,
        loc,
    }
}
