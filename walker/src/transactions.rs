//! Which stretches of each thread are meant to be atomic.

use foretrace_trace::{Event, NameId};

/// What is taken for a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Transactions {
    /// What the program marks with `foretrace_atomic_begin` and `foretrace_atomic_end`.
    #[default]
    Marked,
    /// Each critical section: from the first lock that is taken to the last that is given back. A wait ends one, its
    /// wake starts another.
    CriticalSections,
    /// Calls of functions below `main` and the start functions of threads.
    Functions {
        /// Those whose names fit; all, if there is none.
        pattern: Option<Pattern>,
        /// Of calls inside each other, whether the outermost counts or the innermost.
        outermost: bool,
    },
    /// Each iteration of a loop, the innermost that accesses shared memory.
    LoopBodies,
}

/// A pattern of names: `*` stands for any characters, `?` for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// The pattern that `text` is.
    pub fn new(text: &str) -> Pattern {
        Pattern(text.to_string())
    }

    /// Whether a name fits.
    pub fn fits(&self, name: &str) -> bool {
        let (pattern, name): (Vec<char>, Vec<char>) = (self.0.chars().collect(), name.chars().collect());
        let (mut p, mut n) = (0, 0);
        let mut retry = None;
        while n < name.len() {
            match pattern.get(p) {
                Some('*') => {
                    retry = Some((p + 1, n + 1));
                    p += 1;
                }
                Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
                _ => match retry {
                    Some((after_star, next)) => {
                        (p, n) = (after_star, next);
                        retry = Some((after_star, next + 1));
                    }
                    None => return false,
                },
            }
        }
        pattern[p..].iter().all(|c| *c == '*')
    }
}

/// A stretch of a thread, by events of the draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub thread: u32,
    /// The first event that may belong to it.
    pub start: u32,
    /// The first event after it; nothing if the thread ended inside of it.
    pub end: Option<u32>,
    pub label: Option<NameId>,
}

/// A stretch that has begun.
#[derive(Clone, Copy, Debug)]
struct Open {
    start: u32,
    label: Option<NameId>,
    /// How many accesses the thread had when it began.
    accesses: u64,
    /// Whether a stretch inside of it, with accesses, has ended.
    has_inner: bool,
}

/// The stretches of a thread that are open: inside each other, the innermost last.
#[derive(Default)]
pub(crate) struct Nest {
    open: Vec<Open>,
    /// Accesses of shared memory so far.
    pub accesses: u64,
}

impl Nest {
    /// How many are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// One begins.
    pub fn begin(&mut self, start: u32, label: Option<NameId>) {
        self.open.push(Open { start, label, accesses: self.accesses, has_inner: false });
    }

    /// The innermost ends; with `innermost`, it counts only if there was none inside of it, else only if it is in none.
    ///
    /// Where the thread ends inside of it, `end` is nothing.
    pub fn end(&mut self, thread: u32, end: Option<u32>, innermost: bool) -> Option<Span> {
        let ended = self.open.pop()?;
        let has_accesses = self.accesses > ended.accesses;
        if let Some(around) = self.open.last_mut() {
            around.has_inner |= has_accesses;
        }
        let counts = if innermost { !ended.has_inner } else { self.open.is_empty() };
        (has_accesses && counts).then_some(Span { thread, start: ended.start, end, label: ended.label })
    }
}

/// Where begins and ends go: before and after which events of the draft.
#[derive(Default)]
pub(crate) struct Insertions {
    begins: Marks,
    ends: Marks,
    /// How many transactions there are.
    pub count: u64,
}

impl Insertions {
    /// Puts every stretch directly around its events; `wanted` says which accesses make one worth it.
    pub fn new(spans: &[Span], events: &[Event], threads: usize, wanted: &dyn Fn(&Event) -> bool) -> Insertions {
        let mut insertions = Insertions::default();
        let mut of_thread: Vec<Vec<usize>> = vec![Vec::new(); if spans.is_empty() { 0 } else { threads }];
        for (index, event) in events.iter().enumerate().filter(|_| !spans.is_empty()) {
            of_thread[event.thread.index()].push(index);
        }
        for span in spans {
            let own = &of_thread[span.thread as usize];
            let from = own.partition_point(|index| *index < span.start as usize);
            let to = span.end.map_or(own.len(), |end| own.partition_point(|index| *index < end as usize));
            let inside = &own[from.min(to)..to];
            let accesses = inside.iter().any(|index| events[*index].op.var().is_some() && wanted(&events[*index]));
            let (Some(first), Some(last), true) = (inside.first(), inside.last(), accesses) else { continue };
            insertions.count += 1;
            insertions.begins.marks.push((*first, span.label));
            if span.end.is_some() {
                insertions.ends.marks.push((*last, span.label));
            }
        }
        insertions.begins.marks.sort_by_key(|(event, _)| *event);
        insertions.ends.marks.sort_by_key(|(event, _)| *event);
        insertions
    }

    /// The label of the next one that begins before an event; of events that come in order.
    #[inline]
    pub fn before(&mut self, event: usize) -> Option<Option<NameId>> {
        self.begins.next(event)
    }

    /// The label of the next one that ends after an event; of events that come in order.
    #[inline]
    pub fn after(&mut self, event: usize) -> Option<Option<NameId>> {
        self.ends.next(event)
    }
}

/// Labels by event, in order.
#[derive(Default)]
struct Marks {
    marks: Vec<(usize, Option<NameId>)>,
    done: usize,
}

impl Marks {
    #[inline]
    fn next(&mut self, event: usize) -> Option<Option<NameId>> {
        while let Some((at, label)) = self.marks.get(self.done).filter(|(at, _)| *at <= event) {
            self.done += 1;
            if *at == event {
                return Some(*label);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, fits) in [
            ("*", "", true),
            ("dep*", "deposit", true),
            ("*::push", "Queue::push", true),
            ("*a*b?", "xaxbxby", true),
            ("*a*b?", "xaxbxb", false),
            ("deposit", "deposit2", false),
            ("?", "", false),
        ] {
            assert_eq!(Pattern::new(pattern).fits(name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn of_nested_stretches_one_counts() {
        for (innermost, expected) in [(true, [Some((2, 4)), None]), (false, [None, Some((1, 5))])] {
            let mut nest = Nest::default();
            nest.begin(1, None);
            nest.begin(2, None);
            nest.accesses += 1;
            let mut end = |at| nest.end(0, Some(at), innermost).map(|span| (span.start, span.end.unwrap()));
            assert_eq!([end(4), end(5)], expected);
        }
    }
}
