//! A new lock, declared in the file and taken around all code that a repair is about, and around all other accesses.

use super::diff::Edit;
use super::refusal::{NoPatch, no};
use super::source::{Language, Source};
use crate::place::parts_of_loc;
use crate::section::Section;
use foretrace_trace::{EventId, Op, ThreadId, Trace, VarId};

/// What a new lock is for.
#[derive(Clone, Copy)]
pub struct NewLock<'a> {
    /// The variable that it guards.
    pub var: VarId,
    /// Accesses outside of the sections, while other threads may run.
    pub elsewhere: &'a [EventId],
}

/// What waits for another thread: code that holds a lock cannot.
const WAITS: [&str; 29] = [
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_barrier_wait",
    "pthread_join",
    "sem_wait",
    "wait",
    "wait_for",
    "wait_until",
    "join",
    "recv",
    "park",
    "arrive_and_wait",
    "pthread_cond_clockwait",
    "cnd_wait",
    "cnd_timedwait",
    "sem_timedwait",
    "sem_clockwait",
    "pthread_timedjoin_np",
    "pthread_clockjoin_np",
    "thrd_join",
    "mq_receive",
    "mq_timedreceive",
    "msgrcv",
    "poll",
    "select",
    "epoll_wait",
    "accept",
    "recv_timeout",
    "park_timeout",
];

/// The change: a lock is declared, and each of these stretches of lines takes it.
pub(super) fn by_new_lock(
    trace: &Trace,
    (repair, new): (&[Section], NewLock<'_>),
    (file, source): (&str, &Source<'_>),
) -> Result<(String, Vec<Edit>), NoPatch> {
    let language = source.language();
    if is_header(file) {
        return no("a lock in a header would be another one for each file that includes it");
    }
    let mut lines: Vec<(usize, usize)> = Vec::new();
    for lines_of in repair.iter().flat_map(|section| &section.lines) {
        lines.push((source.index(lines_of.first)?, source.index(lines_of.last)?));
    }
    for access in new.elsewhere {
        let place = trace.loc(*access).and_then(parts_of_loc);
        match place.filter(|(other, ..)| *other == file) {
            Some((_, line, _)) => lines.push((source.index(line)?, source.index(line)?)),
            None => return no(format!("{} is accessed in another file, too", trace.vars[new.var.index()].key)),
        }
    }
    let stretches = whole_statements(source, lines)?;
    for (first, last) in &stretches {
        if source.has_directive_across(*first, *last) {
            return no("the code lies in several branches of the preprocessor");
        }
        if let Some(word) = source.words_between(*first, *last).find(|word| WAITS.contains(word)) {
            return no(format!("the code calls {word}, which may wait for a thread that needs the lock"));
        }
        if language == Language::Rust && source.may_be_value(*first, *last) {
            return no(format!("line {} may be the value of its block", last + 1));
        }
    }
    if let Some(line) = nested(trace, (file, source), &stretches) {
        return no(format!("the code calls what needs the lock as well, at line {}", line + 1));
    }
    let name = source.unused_name(&trace.vars[new.var.index()].key);
    let declared = source.start_of_item(stretches[0].0);
    if source.leaves_branch(declared, stretches[stretches.len() - 1].1) {
        return no("the code lies in several branches of the preprocessor");
    }
    let mut edits: Vec<Edit> = Vec::new();
    if let Some((line, include)) = source.missing_include() {
        edits.push(Edit::Before(line, source.line_like(line, include)));
    }
    edits.push(Edit::Before(declared, source.line_like(declared, &language.declaring(&name))));
    edits.push(Edit::Before(declared, String::new()));
    for (first, last) in &stretches {
        edits.push(Edit::Before(*first, source.line_like(*first, &language.taking(&name))));
        edits.push(Edit::Before(last + 1, source.line_like(*first, &language.giving(&name))));
    }
    let places = if stretches.len() == 1 { "the code".to_string() } else { format!("{} places", stretches.len()) };
    Ok((format!("declares {name} and takes it around {places}"), edits))
}

fn is_header(file: &str) -> bool {
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    extension.starts_with('h')
}

/// Whole statements that hold these lines; those that overlap become one.
fn whole_statements(source: &Source<'_>, lines: Vec<(usize, usize)>) -> Result<Vec<(usize, usize)>, NoPatch> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for (first, last) in lines {
        let mut stretch = source.closed_statements(first, last)?;
        while let Some(other) = all.iter().position(|other| stretch.0 <= other.1 + 1 && other.0 <= stretch.1 + 1) {
            let other = all.swap_remove(other);
            stretch = source.closed_statements(stretch.0.min(other.0), stretch.1.max(other.1))?;
        }
        all.push(stretch);
    }
    all.sort_unstable();
    Ok(all)
}

/// A line in a stretch between which and the thread's next event of the same stretch another stretch is run: the one calls the other.
fn nested(trace: &Trace, (file, source): (&str, &Source<'_>), stretches: &[(usize, usize)]) -> Option<usize> {
    let line_of = |event: EventId| {
        let (_, line, _) = trace.loc(event).and_then(parts_of_loc).filter(|(other, ..)| *other == file)?;
        source.index(line).ok()
    };
    let stretch_of = |line: usize| stretches.iter().position(|(first, last)| (*first..=*last).contains(&line));
    (0..trace.threads.len()).map(ThreadId::from_index).find_map(|thread| {
        // Which stretches the thread came by, the latest last, each with its line there.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (id, event) in trace.iter().filter(|(_, event)| event.thread == thread) {
            if matches!(event.op, Op::Begin { .. } | Op::End { .. }) {
                continue;
            }
            let Some(line) = line_of(id) else { continue };
            let Some(stretch) = stretch_of(line) else {
                open.clear();
                continue;
            };
            if let Some(at) = open.iter().position(|(known, _)| *known == stretch) {
                if at + 1 < open.len() {
                    return Some(open[at].1);
                }
            } else {
                open.push((stretch, line));
            }
        }
        None
    })
}
