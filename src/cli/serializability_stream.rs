//! `foretrace serializability --observed-only --stream`: which blocks the order of events violates, said while the events come.

use super::choices::Format;
use super::{Outcome, say, since_start};
use foretrace_serializability::{Seen, StreamMonitor};
use foretrace_trace::{Atomic, BlockKind, Event, EventId, EventStream, NameId, Op, ReadError, Trace, VarId, file};
use foretrace_walker::Pattern;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Where `auto` is asked for and no mark has come, this many events say what there is.
const FIRST_EVENTS: usize = 1 << 16;

/// Most finds that wait to be written.
const MOST_WAITING: usize = 1 << 10;

/// How long Ctrl-C and the limit may go unseen.
const LOOK: Duration = Duration::from_millis(50);

/// What is asked for.
pub struct Asked<'a> {
    pub path: &'a Path,
    pub atomic: Atomic,
    pub vars: Option<&'a str>,
    pub format: Format,
    pub time_limit: Option<Duration>,
}

/// Reads events until they end, the limit is reached or Ctrl-C comes, and writes each violated block as it is found.
pub fn watch(asked: &Asked<'_>, stop: &AtomicBool) -> anyhow::Result<Outcome> {
    let (sender, finds) = sync_channel(MOST_WAITING);
    let counts: &'static Counts = Box::leak(Box::default()); // the reader may outlive this call, since it may wait for input
    let (path, atomic, vars) = (asked.path.to_path_buf(), asked.atomic, asked.vars.map(Pattern::new));
    std::thread::Builder::new().spawn(move || {
        let (monitor, waiting, counted) = (None, Vec::new(), Vec::new());
        Reading { path, atomic, vars, monitor, waiting, counted, sender, counts }.run();
    })?;
    let must_end = || stop.load(Ordering::SeqCst) || asked.time_limit.is_some_and(|limit| since_start() >= limit);
    let (violated, ended) = tell(&finds, asked.format, &must_end)?;
    let total = Total { events: counts.events.load(Ordering::Relaxed), violated, ended };
    write_line(asked.format, &Line::Total(total))?;
    Ok(match (violated, ended) {
        (1.., _) => Outcome::Found,
        (0, true) => Outcome::Fine,
        (0, false) => Outcome::Undecided,
    })
}

/// Writes finds; how many there were, and whether the input has ended.
fn tell(
    finds: &Receiver<Result<Find, ReadError>>,
    format: Format,
    must_end: &dyn Fn() -> bool,
) -> anyhow::Result<(u64, bool)> {
    let mut violated = 0;
    while !must_end() {
        match finds.recv_timeout(LOOK) {
            Ok(Ok(find)) => {
                violated += 1;
                write_line(format, &Line::Block(find))?;
            }
            Ok(Err(error)) => return Err(error.into()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok((violated, true)),
        }
    }
    say("note: stopped before the events ended");
    Ok((violated, false))
}

/// How far reading is.
#[derive(Default)]
struct Counts {
    events: AtomicU64,
}

/// A violated block, as it is told.
#[derive(Serialize)]
struct Find {
    thread: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    kind: &'static str,
    first: EventId,
    #[serde(skip_serializing_if = "Option::is_none")]
    loc: Option<String>,
    end: EventId,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_loc: Option<String>,
    var: String,
}

/// What was read in all.
#[derive(Serialize)]
struct Total {
    events: u64,
    violated: u64,
    ended: bool,
}

/// A line of the report.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Block(Find),
    Total(Total),
}

/// Writes a line at once: who reads may wait for it.
fn write_line(format: Format, line: &Line) -> io::Result<()> {
    if format == Format::Json {
        let mut out = io::stdout().lock();
        serde_json::to_writer(&mut out, line)?;
        writeln!(out)?;
        return out.flush();
    }
    let mut out = anstream::stdout().lock();
    match line {
        Line::Block(find) => writeln!(out, "{find}")?,
        Line::Total(Total { events, violated, ended }) => {
            let so_far = if *ended { "" } else { " so far" };
            writeln!(out, "{violated} blocks violated by the recorded order, {events} events{so_far}")?;
        }
    }
    out.flush()
}

impl std::fmt::Display for Find {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Find { thread, label, kind, first, loc, end, end_loc, var } = self;
        let label = label.as_ref().map_or_else(String::new, |label| format!(" `{label}`"));
        let [loc, end_loc] = [loc, end_loc].map(|loc| loc.as_ref().map_or_else(String::new, |loc| format!(", {loc}")));
        write!(f, "{kind} block{label} of thread {thread} (event {first}{loc}) is violated: ")?;
        write!(f, "a path comes back to it at {var} (event {end}{end_loc})")
    }
}

/// The thread that reads.
struct Reading {
    path: std::path::PathBuf,
    atomic: Atomic,
    vars: Option<Pattern>,
    /// None until it is known what is meant to be atomic.
    monitor: Option<StreamMonitor>,
    /// The events until then.
    waiting: Vec<(EventId, Event)>,
    /// Per variable, whether it counts.
    counted: Vec<bool>,
    sender: SyncSender<Result<Find, ReadError>>,
    counts: &'static Counts,
}

/// Nobody listens any more, or the input is wrong.
enum Over {
    Unheard,
    Wrong(ReadError),
}

impl From<ReadError> for Over {
    fn from(error: ReadError) -> Over {
        Over::Wrong(error)
    }
}

impl Reading {
    fn run(mut self) {
        if let Err(Over::Wrong(error)) = self.read() {
            let _ = self.sender.send(Err(error)); // no one to tell
        }
    }

    fn read(&mut self) -> Result<(), Over> {
        let mut stream = file::stream(&self.path)?;
        if self.atomic != Atomic::Auto {
            self.monitor = Some(StreamMonitor::new(self.atomic));
        }
        while let Some((id, event)) = stream.next()? {
            self.counts.events.fetch_add(1, Ordering::Relaxed);
            self.resolve(&stream, id, &event)?;
            if self.monitor.is_some() {
                self.see(stream.trace(), id, &event)?;
            } else {
                self.waiting.push((id, event));
                if self.waiting.len() >= FIRST_EVENTS {
                    self.begin(stream.trace())?;
                }
            }
        }
        self.begin(stream.trace())?;
        let mut found = Vec::new();
        if let Some(monitor) = &mut self.monitor {
            monitor.end(&mut found);
        }
        self.send(stream.trace(), found)
    }

    /// A mark says what `auto` stands for, if it comes in time.
    fn resolve(&mut self, stream: &EventStream, id: EventId, event: &Event) -> Result<(), Over> {
        let Op::Begin { kind, .. } = event.op else { return Ok(()) };
        if self.atomic != Atomic::Auto {
            return Ok(());
        }
        let is_late = match &self.monitor {
            None if kind == BlockKind::Mark => {
                self.atomic = Atomic::Marked;
                return self.begin(stream.trace());
            }
            None => false,
            Some(monitor) => kind == BlockKind::Mark || monitor.is_of_bare(),
        };
        if !is_late {
            return Ok(());
        }
        let found = format!("the first {} block", kind.name());
        let expected = format!("it among the first {FIRST_EVENTS} events, or --atomic that says what is atomic");
        Err(stream.refused(id, found, expected).into())
    }

    /// Begins to watch, by what has come so far.
    fn begin(&mut self, trace: &Trace) -> Result<(), Over> {
        if self.monitor.is_some() {
            return Ok(());
        }
        let has_blocks = self.waiting.iter().any(|(_, event)| matches!(event.op, Op::Begin { .. }));
        let is_bare = self.atomic == Atomic::Auto && !has_blocks;
        self.monitor = Some(if is_bare { StreamMonitor::of_bare() } else { StreamMonitor::new(self.atomic) });
        std::mem::take(&mut self.waiting).iter().try_for_each(|(id, event)| self.see(trace, *id, event))
    }

    fn see(&mut self, trace: &Trace, id: EventId, event: &Event) -> Result<(), Over> {
        let counts = event.op.var().is_some_and(|var| self.counts_var(trace, var));
        let Some(monitor) = &mut self.monitor else { return Ok(()) };
        let mut found = Vec::new();
        monitor.see(id, event, counts, &mut found);
        self.send(trace, found)
    }

    fn counts_var(&mut self, trace: &Trace, var: VarId) -> bool {
        for var in &trace.vars[self.counted.len()..] {
            let fits = self.vars.as_ref().is_none_or(|pattern| pattern.fits(var.shown()));
            self.counted.push(fits && !var.is_of_library());
        }
        self.counted[var.index()]
    }

    fn send(&self, trace: &Trace, found: Vec<Seen>) -> Result<(), Over> {
        let send = |seen| self.sender.send(Ok(told(trace, seen))).map_err(|_| Over::Unheard);
        found.into_iter().try_for_each(send)
    }
}

fn told(trace: &Trace, seen: Seen) -> Find {
    let text = |name: Option<NameId>| name.map(|name| trace.names.text(name).to_string());
    let Seen { thread, first, loc, label, kind, end, end_loc, var } = seen;
    Find {
        thread: trace.threads[thread.index()].number,
        label: text(label),
        kind: kind.name(),
        first,
        loc: text(loc),
        end,
        end_loc: text(end_loc),
        var: trace.vars[var.index()].shown().to_string(),
    }
}
