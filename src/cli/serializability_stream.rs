//! `foretrace serializability --observed-only --stream`: which blocks the order of events violates, said while the events come.

use super::choices::Format;
use super::outcome::{Outcome, say, since_start};
use super::serializability_watch::Watch;
use foretrace_report::thread_name;
use foretrace_serializability::Seen;
use foretrace_trace::{Atomic, EventId, NameId, ReadError, Trace, file};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Most finds that wait to be written.
pub const MOST_WAITING: usize = 1 << 10;

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
    let (path, atomic, vars) = (asked.path.to_path_buf(), asked.atomic, asked.vars.map(str::to_string));
    std::thread::Builder::new().spawn(move || {
        let watch = Watch::new(atomic, vars.as_deref());
        Reading { path, watch, sender, counts }.run();
    })?;
    let must_end = || stop.load(Ordering::SeqCst) || asked.time_limit.is_some_and(|limit| since_start() >= limit);
    let mut violated = 0;
    let ended = tell(&finds, &must_end, &mut |find| {
        violated += 1;
        Ok(write_line(asked.format, &Line::Block(find))?)
    })?;
    let total = Total { events: counts.events.load(Ordering::Relaxed), violated, ended };
    write_line(asked.format, &Line::Total(total))?;
    Ok(match (violated, ended) {
        (1.., _) => Outcome::Found,
        (0, true) => Outcome::Fine,
        (0, false) => Outcome::Undecided,
    })
}

/// Hears of finds as they come; whether the input has ended.
pub fn tell<T, E: Into<anyhow::Error>>(
    finds: &Receiver<Result<T, E>>,
    must_end: &dyn Fn() -> bool,
    hear: &mut dyn FnMut(T) -> anyhow::Result<()>,
) -> anyhow::Result<bool> {
    while !must_end() {
        match finds.recv_timeout(LOOK) {
            Ok(Ok(find)) => hear(find)?,
            Ok(Err(error)) => return Err(error.into()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(true),
        }
    }
    say("note: stopped before the events ended");
    Ok(false)
}

/// How far reading is.
#[derive(Default)]
struct Counts {
    events: AtomicU64,
}

/// A violated block, as it is told.
#[derive(Serialize)]
pub struct Find {
    pub thread: u64,
    /// What texts call the thread.
    #[serde(skip)]
    pub thread_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    pub kind: &'static str,
    pub first: EventId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loc: Option<String>,
    pub end: EventId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_loc: Option<String>,
    pub var: String,
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
pub fn write_line(format: Format, line: &(impl Serialize + std::fmt::Display)) -> io::Result<()> {
    match format {
        Format::Text => {
            let mut out = anstream::stdout().lock();
            writeln!(out, "{line}")?;
            out.flush()
        }
        Format::Json => {
            let mut out = io::stdout().lock();
            serde_json::to_writer(&mut out, line)?;
            writeln!(out)?;
            out.flush()
        }
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Line::Block(find) => find.fmt(f),
            Line::Total(Total { events, violated, ended }) => {
                let so_far = if *ended { "" } else { " so far" };
                write!(f, "{violated} blocks violated by the recorded order, {events} events{so_far}")
            }
        }
    }
}

impl std::fmt::Display for Find {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Find { thread: _, thread_name, label, kind, first, loc, end, end_loc, var } = self;
        let label = label.as_ref().map_or_else(String::new, |label| format!(" `{label}`"));
        let [loc, end_loc] = [loc, end_loc].map(|loc| loc.as_ref().map_or_else(String::new, |loc| format!(", {loc}")));
        write!(f, "{kind} block{label} of {thread_name} (event {first}{loc}) is violated: ")?;
        write!(f, "a path comes back to it at {var} (event {end}{end_loc})")
    }
}

/// The thread that reads.
struct Reading {
    path: std::path::PathBuf,
    watch: Watch,
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
        while let Some((id, event)) = stream.next()? {
            self.counts.events.fetch_add(1, Ordering::Relaxed);
            let found = self.watch.event(stream.trace(), id, &event);
            let found = found.map_err(|late| stream.refused(id, late.found, late.expected))?;
            self.send(stream.trace(), found)?;
        }
        let found = self.watch.end(stream.trace());
        self.send(stream.trace(), found)
    }

    fn send(&self, trace: &Trace, found: Vec<Seen>) -> Result<(), Over> {
        let send = |seen| self.sender.send(Ok(told(trace, seen))).map_err(|_| Over::Unheard);
        found.into_iter().try_for_each(send)
    }
}

/// A find in words.
pub fn told(trace: &Trace, seen: Seen) -> Find {
    let text = |name: Option<NameId>| name.map(|name| trace.names.text(name).to_string());
    let Seen { thread, first, loc, label, kind, end, end_loc, var } = seen;
    Find {
        thread: trace.threads[thread.index()].number,
        thread_name: thread_name(trace, thread),
        label: text(label),
        kind: kind.name(),
        first,
        loc: text(loc),
        end,
        end_loc: text(end_loc),
        var: trace.vars[var.index()].shown().to_string(),
    }
}
