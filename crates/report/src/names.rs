//! What text reports call places, variables and threads: paths below the folder that the program's own files share, and the source
//! line at a place, where the recording has kept it.

use super::folding::{short_name, short_name_of_thread};
use foretrace_trace::{EventId, NameId, ThreadId, Trace, VarId};
use std::borrow::Cow;

/// Lines of text reports have at most this many characters.
pub(super) const WIDEST_LINE: usize = 100;

/// Folders of code that is not the program's.
const FOREIGN: [&str; 4] = ["/usr/", "/rustc/", "/.cargo/registry/", "/.rustup/"];

/// The source line at a place `file:line:column`, where it is known.
pub type SourceLine<'t> = Box<dyn Fn(&str) -> Option<String> + 't>;

/// Short names of what a trace speaks of.
pub struct Names<'t> {
    trace: &'t Trace,
    /// The folder that all files of the program share, with a slash at the end; empty where there is none.
    folder: String,
    source: Option<SourceLine<'t>>,
}

impl<'t> Names<'t> {
    /// The names of a trace.
    pub fn new(trace: &'t Trace) -> Names<'t> {
        Names { trace, folder: shared_folder(trace).unwrap_or_default(), source: None }
    }

    /// The same with source lines.
    pub fn with_source(self, source: Option<SourceLine<'t>>) -> Names<'t> {
        Names { source, ..self }
    }

    /// The trace.
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    /// The folder that is left out, with a slash at the end, where there is one.
    pub fn folder(&self) -> Option<&str> {
        Some(&*self.folder).filter(|folder| !folder.is_empty())
    }

    /// A text without the folder.
    pub fn short<'s>(&self, text: &'s str) -> Cow<'s, str> {
        match self.folder() {
            Some(folder) if text.contains(folder) => Cow::Owned(text.replace(folder, "")),
            _ => Cow::Borrowed(text),
        }
    }

    /// Where an event is in the source.
    pub fn loc(&self, event: EventId) -> Option<Cow<'t, str>> {
        self.trace.loc(event).map(|loc| match below_crates(loc) {
            Some(below) => Cow::Borrowed(below),
            None => self.short(loc),
        })
    }

    /// Where an event is, with its number.
    pub fn place(&self, event: EventId) -> String {
        match self.loc(event) {
            Some(loc) => format!("{loc} (event {event})"),
            None => format!("event {event}"),
        }
    }

    /// Where an event is; its number where that is not known.
    pub fn place_only(&self, event: EventId) -> String {
        self.loc(event).map_or_else(|| format!("event {event}"), Cow::into_owned)
    }

    /// The places of a triple, each file named once: `pool.c:50:19, 60:13; meanwhile 60:13`.
    pub fn places(&self, [first, remote, second]: [EventId; 3]) -> String {
        let mut file: Option<String> = None;
        let mut place = |event: EventId| match self.loc(event) {
            None => format!("event {event}"),
            Some(loc) => match loc.split_once(':') {
                Some((name, rest)) if file.as_deref() == Some(name) => rest.to_string(),
                Some((name, _)) => {
                    file = Some(name.to_string());
                    loc.to_string()
                }
                None => loc.to_string(),
            },
        };
        let [first, second, remote] = [first, second, remote].map(&mut place);
        format!("{first}, {second}; meanwhile {remote}")
    }

    /// A variable.
    pub fn var(&self, var: VarId) -> Cow<'t, str> {
        self.short(self.trace.vars[var.index()].shown())
    }

    /// The variable of an access.
    pub fn var_of(&self, event: EventId) -> Cow<'t, str> {
        self.trace.event(event).op.var().map_or(Cow::Borrowed(""), |var| self.var(var))
    }

    /// A label.
    pub fn label(&self, label: NameId) -> Cow<'t, str> {
        short_name(self.trace.names.text(label))
    }

    /// A thread.
    pub fn thread(&self, thread: ThreadId) -> String {
        thread_name(self.trace, thread)
    }

    /// The source line of an event, without the blanks around it.
    pub fn source_line(&self, event: EventId) -> Option<String> {
        let line = (self.source.as_ref()?)(self.trace.loc(event)?)?;
        Some(line.trim().to_string()).filter(|line| !line.is_empty())
    }
}

/// A place in a crate that cargo fetched, or in Rust's library, without the folders above: `tokio-1.54.1/src/lib.rs:7:9`.
pub fn below_crates(loc: &str) -> Option<&str> {
    let fetched = || loc.split_once("/registry/src/").and_then(|(_, below)| below.split_once('/'));
    let built = || loc.strip_prefix("/rustc/").and_then(|below| below.split_once("/library/"));
    fetched().or_else(built).map(|(_, below)| below)
}

/// A place without its column.
pub fn line_of(loc: &str) -> &str {
    match loc.rsplit_once(':') {
        Some((rest, _)) if rest.contains(':') => rest,
        _ => loc,
    }
}

/// A place without the folders above a crate or library: files of the project's own have none.
pub fn below_project(place: &str) -> &str {
    if !place.starts_with('/') {
        return place;
    }
    let after = |marker: &str| place.rsplit_once(marker).map(|(_, rest)| rest);
    let known = below_crates(place).or_else(|| after("/rust/deps/")).or_else(|| after("/library/"));
    known.or_else(|| after("/include/")).unwrap_or_else(|| {
        let start = place.rmatch_indices('/').nth(2).map_or(0, |(at, _)| at + 1);
        &place[start..]
    })
}

/// The name of a thread in text.
pub fn thread_name(trace: &Trace, thread: ThreadId) -> String {
    let thread = &trace.threads[thread.index()];
    thread_called(thread.number, thread.name.as_deref())
}

/// The name in text of the thread with this number and name.
pub fn thread_called(number: u64, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("thread {number} ({})", short_name_of_thread(name)),
        None => format!("thread {number}"),
    }
}

/// A sentence in lines of no more than the widest, where its words allow it; lines after the first begin with `indent`.
pub fn wrapped(text: &str, indent: &str) -> String {
    wrapped_at(WIDEST_LINE, text, indent)
}

/// The same with lines of `most` characters.
pub fn wrapped_at(most: usize, text: &str, indent: &str) -> String {
    let words = text.trim_start_matches(' ');
    let mut lines = " ".repeat(text.len() - words.len());
    let mut width = 0;
    for word in words.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > most - indent.len() {
            lines.push('\n');
            lines.push_str(indent);
            width = 0;
        } else if width > 0 {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(word);
        width += length;
    }
    lines
}

/// The folder that the files of the program's own code share.
fn shared_folder(trace: &Trace) -> Option<String> {
    let mut last = None;
    let mut shared: Option<&str> = None;
    for event in &trace.events {
        if event.loc == last {
            continue;
        }
        last = event.loc;
        let Some(loc) = event.loc.map(|loc| trace.names.text(loc)) else { continue };
        let is_own = loc.starts_with('/') && !FOREIGN.iter().any(|foreign| loc.contains(foreign));
        let Some(folder) = is_own.then(|| folder_of(loc)).flatten() else { continue };
        shared = Some(shared.map_or(folder, |known| common(known, folder)));
    }
    shared.filter(|folder| folder.len() > 1).map(str::to_string)
}

/// The folder of `/folder/file:line:column`, with its slash.
fn folder_of(loc: &str) -> Option<&str> {
    let file = loc.split(':').next()?;
    file.rfind('/').map(|slash| &file[..=slash])
}

/// What two folders share, up to a slash.
fn common<'s>(one: &'s str, other: &str) -> &'s str {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let end = one.as_bytes()[..same].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    &one[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_share_what_comes_before_a_slash() {
        assert_eq!(common("/a/bc/", "/a/bd/"), "/a/");
        assert_eq!(common("/a/b/", "/a/b/c/"), "/a/b/");
        assert_eq!(folder_of("/a/b.c:1:2"), Some("/a/"));
        assert_eq!(folder_of("b.c:1:2"), None);
    }

    #[test]
    fn places_in_crates_begin_with_the_crate() {
        let index = "/home/user/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f";
        assert_eq!(below_crates(&format!("{index}/tokio-1.54.1/src/lib.rs:7:9")), Some("tokio-1.54.1/src/lib.rs:7:9"));
        assert_eq!(below_crates("/rustc/0123abcd/library/core/src/cell.rs:1:2"), Some("core/src/cell.rs:1:2"));
        assert_eq!(below_crates("/home/me/bank/src/main.rs:1:2"), None);
        assert_eq!(below_crates("src/main.rs:1:2"), None);
    }

    #[test]
    fn sentences_break_between_words() {
        let text = vec!["word"; 60].join(" ");
        let lines = wrapped(&text, "   ");
        assert!(lines.lines().all(|line| line.chars().count() <= WIDEST_LINE));
        assert_eq!(lines.split_whitespace().count(), 60);
        assert_eq!(wrapped("   1. a  b", ""), "   1. a  b");
    }
}
