//! Which stretches of each thread are meant to be atomic.

use foretrace_trace::{BlockKind, Event, NameId};

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
    pub title: Title,
    /// Whether it is the first call that no function of the program's own made: the thread's own function, if it stays the
    /// only one.
    pub may_be_thread: bool,
    /// Whether no function of the program's own made the call.
    pub is_outermost_call: bool,
}

/// What a block is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Title {
    pub kind: BlockKind,
    pub label: Option<NameId>,
    pub loc: Option<NameId>,
    /// Where the program's own code called it, if it is a call.
    pub called_at: Option<NameId>,
}

/// A stretch that has begun.
#[derive(Clone, Copy, Debug)]
struct Open {
    start: u32,
    title: Title,
    /// How many accesses the thread had when it began.
    accesses: u64,
    /// Whether a stretch inside of it, with accesses, has ended.
    has_inner: bool,
    may_be_thread: bool,
    is_outermost_call: bool,
}

/// Which of stretches inside each other count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counts {
    All,
    Outermost,
    Innermost,
}

/// The stretches of a thread that are open.
#[derive(Default)]
pub(crate) struct Nest {
    /// Calls of functions and turns of loops: inside each other, the innermost last.
    frames: Vec<Open>,
    /// Marks of the user: inside each other, the innermost last.
    marks: Vec<Open>,
    section: Option<Open>,
    /// Calls so far that no function of the program's own made.
    outermost_calls: u64,
    /// Accesses of shared memory so far.
    pub accesses: u64,
}

impl Nest {
    /// How many calls and turns are open.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Whether anything is open.
    pub fn is_open(&self) -> bool {
        !self.frames.is_empty() || !self.marks.is_empty() || self.section.is_some()
    }

    fn open(&self, start: u32, title: Title) -> Open {
        let accesses = self.accesses;
        Open { start, title, accesses, has_inner: false, may_be_thread: false, is_outermost_call: false }
    }

    /// A call, a turn, a mark or a critical section begins.
    pub fn begin(&mut self, start: u32, title: Title) {
        let open = self.open(start, title);
        match title.kind {
            BlockKind::Mark => self.marks.push(open),
            BlockKind::Section => self.section = Some(open),
            _ => self.frames.push(open),
        }
    }

    /// A call that no function of the program's own made.
    pub fn begin_outermost_call(&mut self, start: u32, title: Title) {
        let may_be_thread = self.is_first_outermost_call();
        self.frames.push(Open { may_be_thread, is_outermost_call: true, ..self.open(start, title) });
    }

    /// Notes a call that no function of the program's own made; whether it is the first.
    pub fn is_first_outermost_call(&mut self) -> bool {
        self.outermost_calls += 1;
        self.outermost_calls == 1
    }

    /// The innermost call or turn ends; where the thread ends inside of it, `end` is nothing.
    pub fn end(&mut self, thread: u32, end: Option<u32>, counts: Counts) -> Option<Span> {
        let ended = self.frames.pop()?;
        let has_accesses = self.accesses > ended.accesses;
        if let Some(around) = self.frames.last_mut() {
            around.has_inner |= has_accesses;
        }
        let is_wanted = match counts {
            Counts::All => true,
            Counts::Outermost => self.frames.is_empty(),
            Counts::Innermost => !ended.has_inner,
        };
        (has_accesses && is_wanted).then_some(span(thread, ended, end))
    }

    /// The innermost mark ends.
    pub fn end_mark(&mut self, thread: u32, end: Option<u32>) -> Option<Span> {
        let ended = self.marks.pop()?;
        (self.accesses > ended.accesses).then_some(span(thread, ended, end))
    }

    /// The critical section ends.
    pub fn end_section(&mut self, thread: u32, end: Option<u32>) -> Option<Span> {
        let ended = self.section.take()?;
        (self.accesses > ended.accesses).then_some(span(thread, ended, end))
    }
}

fn span(thread: u32, open: Open, end: Option<u32>) -> Span {
    let Open { start, title, may_be_thread, is_outermost_call, .. } = open;
    Span { thread, start, end, title, may_be_thread, is_outermost_call }
}

/// Where begins and ends go: before and after which events of the draft.
#[derive(Default)]
pub(crate) struct Insertions {
    begins: Titles,
    ends: Titles,
    /// How many transactions there are: blocks that are in no other.
    pub count: u64,
}

/// A block and its first and last event of the draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub first: usize,
    pub last: usize,
    pub title: Title,
    /// Whether its end is seen.
    pub ends: bool,
}

impl Insertions {
    /// Of blocks, each thread's together, outer ones before those inside of them.
    pub fn new(blocks: &[Placed], events: &[Event]) -> Insertions {
        let mut insertions = Insertions::default();
        let mut around: Option<&Placed> = None;
        for block in blocks {
            let is_inside = around.is_some_and(|outer| {
                events[outer.first].thread == events[block.first].thread && block.first <= outer.last
            });
            if !is_inside {
                insertions.count += 1;
                around = Some(block);
            }
            insertions.begins.titles.push((block.first, block.title));
        }
        let ended = blocks.iter().rev().filter(|block| block.ends);
        insertions.ends.titles.extend(ended.map(|block| (block.last, block.title)));
        insertions.begins.titles.sort_by_key(|(event, _)| *event);
        insertions.ends.titles.sort_by_key(|(event, _)| *event);
        insertions
    }

    /// The next block that begins before an event; of events that come in order.
    #[inline]
    pub fn before(&mut self, event: usize) -> Option<Title> {
        self.begins.next(event)
    }

    /// The next block that ends after an event; of events that come in order.
    #[inline]
    pub fn after(&mut self, event: usize) -> Option<Title> {
        self.ends.next(event)
    }
}

/// Titles by event, in order.
#[derive(Default)]
struct Titles {
    titles: Vec<(usize, Title)>,
    done: usize,
}

impl Titles {
    #[inline]
    fn next(&mut self, event: usize) -> Option<Title> {
        while let Some((at, title)) = self.titles.get(self.done).filter(|(at, _)| *at <= event) {
            self.done += 1;
            if *at == event {
                return Some(*title);
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
    fn of_nested_stretches_those_count_that_are_wanted() {
        let (inner, outer) = (Some((2, 4)), Some((1, 5)));
        for (counts, expected) in
            [(Counts::Innermost, [inner, None]), (Counts::Outermost, [None, outer]), (Counts::All, [inner, outer])]
        {
            let title = Title { kind: BlockKind::Function, label: None, loc: None, called_at: None };
            let mut nest = Nest::default();
            nest.begin(1, title);
            nest.begin(2, title);
            nest.accesses += 1;
            let mut end = |at| nest.end(0, Some(at), counts).map(|span| (span.start, span.end.unwrap()));
            assert_eq!([end(4), end(5)], expected);
        }
    }
}
