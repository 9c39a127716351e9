//! From stretches of threads to blocks that nest. Blocks of a single step are dropped, and so are blocks that say no more than a block
//! inside of them.

use crate::options::Options;
use crate::transactions::{Placed, Span, Title};
use foretrace_trace::{Atomic, BlockKind, Event, Op};

/// Which accesses count, and what threads are called.
pub(crate) struct About<'a> {
    pub options: &'a Options,
    pub events: &'a [Event],
    /// Whether an access of this event makes a block worth it.
    pub wanted: &'a dyn Fn(&Event) -> bool,
    /// Per thread the title of its whole code.
    pub threads: &'a [Title],
}

/// The blocks, each thread's together, outer ones before those inside of them.
pub(crate) fn blocks(mut spans: Vec<Span>, about: &About<'_>) -> Vec<Placed> {
    let count = about.threads.len();
    let is_mark = |span: &Span| span.title.kind == BlockKind::Mark;
    let atomic = match about.options.atomic {
        Atomic::Auto if spans.iter().any(is_mark) => {
            spans.retain(is_mark);
            Atomic::Marked
        }
        other => other,
    };
    let mut by_thread: Vec<Vec<Span>> = vec![Vec::new(); count];
    spans.into_iter().for_each(|span| by_thread[span.thread as usize].push(span));
    if matches!(atomic, Atomic::Auto | Atomic::Threads) {
        for (thread, title) in about.threads.iter().enumerate() {
            let whole = Span {
                thread: thread as u32,
                start: 0,
                end: None,
                title: *title,
                may_be_thread: false,
                is_outermost_call: false,
            };
            by_thread[thread].push(whole);
        }
    }
    if by_thread.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let mut own: Vec<Vec<usize>> = vec![Vec::new(); count];
    about.events.iter().enumerate().for_each(|(index, event)| own[event.thread.index()].push(index));
    let threads = by_thread.into_iter().zip(&own);
    let placed = threads.map(|(spans, own)| match atomic {
        Atomic::Auto => nested(without_thread(spans), own, about),
        _ => asked_for(spans, own, about),
    });
    placed.flatten().collect()
}

/// What somebody asked for by name: directly around its events, where it has a wanted access.
fn asked_for(mut spans: Vec<Span>, own: &[usize], about: &About<'_>) -> Vec<Placed> {
    let place = |span: &Span| {
        let from = own.partition_point(|index| *index < span.start as usize);
        let to = span.end.map_or(own.len(), |end| own.partition_point(|index| *index < end as usize));
        let inside = &own[from.min(to)..to];
        let is_wanted =
            |index: &usize| about.events[*index].op.var().is_some() && (about.wanted)(&about.events[*index]);
        let (first, last) = (*inside.first()?, *inside.last()?);
        let ends = span.end.is_some();
        inside.iter().any(is_wanted).then_some(Placed { first, last, title: span.title, ends })
    };
    spans.reverse(); // those inside ended earlier
    let mut placed: Vec<Placed> = spans.iter().filter_map(place).collect();
    placed.sort_by_key(|block| (block.first, std::cmp::Reverse(block.last)));
    placed
}

/// A thread's own function is the thread, unless other functions are called as it is.
fn without_thread(mut spans: Vec<Span>) -> Vec<Span> {
    let outermost = spans.iter().filter(|span| span.is_outermost_call).count();
    spans.retain(|span| !(span.may_be_thread && outermost == 1));
    spans
}

/// A block by the wanted accesses of its thread: from the first of them to before the last.
#[derive(Clone, Copy, Debug)]
struct Range {
    from: usize,
    to: usize,
    title: Title,
}

/// The wanted accesses of a thread.
struct Accesses {
    /// Where they are among the events of the draft.
    events: Vec<usize>,
    /// Per access, the number of its step: some steps are several accesses.
    steps: Vec<usize>,
}

impl Accesses {
    fn of_blocks(own: &[usize], about: &About<'_>) -> Accesses {
        let mut accesses = Accesses { events: Vec::new(), steps: Vec::new() };
        let mut step = 0;
        for index in own {
            let event = &about.events[*index];
            if event.op.var().is_none() || !(about.wanted)(event) {
                continue;
            }
            step += usize::from(event.part.is_none_or(|(k, _)| k <= 1));
            accesses.events.push(*index);
            accesses.steps.push(step);
        }
        accesses
    }

    /// Those between two events of the draft.
    fn between(&self, start: usize, end: Option<usize>) -> (usize, usize) {
        let from = self.events.partition_point(|index| *index < start);
        let to = end.map_or(self.events.len(), |end| self.events.partition_point(|index| *index < end));
        (from, to)
    }

    /// Whether these are more than one step, so that another thread can come between.
    fn can_be_cut(&self, from: usize, to: usize) -> bool {
        from < to && self.steps[from] < self.steps[to - 1]
    }
}

/// Blocks of all kinds: never across the creation or end of another thread.
fn nested(spans: Vec<Span>, own: &[usize], about: &About<'_>) -> Vec<Placed> {
    let accesses = Accesses::of_blocks(own, about);
    let is_cut = |index: &&usize| matches!(about.events[**index].op, Op::Fork { .. } | Op::Join { .. });
    let cuts: Vec<usize> = own.iter().filter(is_cut).map(|index| accesses.between(*index, None).0).collect();
    let (mut frames, mut sections) = (Vec::new(), Vec::new());
    for span in &spans {
        let (from, to) = accesses.between(span.start as usize, span.end.map(|end| end as usize));
        let kind = if span.title.kind == BlockKind::Section { &mut sections } else { &mut frames };
        cut(Range { from, to, title: span.title }, &cuts, &accesses, kind);
    }
    arrange(&mut frames);
    let around = around(&frames);
    let mut all = frames.clone();
    for section in &sections {
        cut(*section, &crossed(*section, &frames, &around), &accesses, &mut all);
    }
    arrange(&mut all);
    all.iter().map(|range| place(range, &accesses, about.events)).collect()
}

/// The parts of a range between places, of more than one step each.
fn cut(range: Range, places: &[usize], accesses: &Accesses, parts: &mut Vec<Range>) {
    let start = places.partition_point(|place| *place <= range.from);
    let inside = places[start..].iter().copied().take_while(|place| *place < range.to);
    let mut from = range.from;
    for to in inside.chain([range.to]) {
        if accesses.can_be_cut(from, to) {
            parts.push(Range { from, to, ..range });
        }
        from = to;
    }
}

/// How far inside a kind is where blocks hold the same accesses.
fn depth(kind: BlockKind) -> u8 {
    match kind {
        BlockKind::Thread => 0,
        BlockKind::Function | BlockKind::Loop => 1,
        BlockKind::Section | BlockKind::Mark => 2,
    }
}

/// Puts outer ranges before those inside of them; of equal ones only the innermost stays, and none that overlaps another.
fn arrange(ranges: &mut Vec<Range>) {
    // What ended earlier was inside; so of equal ones the first is the innermost.
    ranges.sort_by_key(|range| (range.from, std::cmp::Reverse(range.to), std::cmp::Reverse(depth(range.title.kind))));
    ranges.dedup_by_key(|range| (range.from, range.to));
    let mut open: Vec<usize> = Vec::new();
    ranges.retain(|range| {
        while open.last().is_some_and(|end| *end <= range.from) {
            open.pop();
        }
        let fits = open.last().is_none_or(|end| range.to <= *end);
        if fits {
            open.push(range.to);
        }
        fits
    });
}

/// Per range the one around it.
fn around(ranges: &[Range]) -> Vec<Option<usize>> {
    let mut open: Vec<usize> = Vec::new();
    let mut around = Vec::with_capacity(ranges.len());
    for (position, range) in ranges.iter().enumerate() {
        while open.last().is_some_and(|outer| ranges[*outer].to <= range.from) {
            open.pop();
        }
        around.push(open.last().copied());
        open.push(position);
    }
    around
}

/// Where a section leaves blocks that it began in, and enters those that it ends in.
fn crossed(section: Range, frames: &[Range], around: &[Option<usize>]) -> Vec<usize> {
    let holding = |access: usize| {
        let begun = frames.partition_point(|range| range.from <= access).checked_sub(1);
        let up = std::iter::successors(begun, |position| around[*position]);
        up.map(|position| &frames[position]).filter(move |range| access < range.to)
    };
    let left = holding(section.from).filter(|range| range.from < section.from && range.to < section.to);
    let entered = holding(section.to - 1).filter(|range| range.from > section.from && range.to > section.to);
    let mut places: Vec<usize> = left.map(|range| range.to).chain(entered.map(|range| range.from)).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// Begin and end around whole steps.
fn place(range: &Range, accesses: &Accesses, events: &[Event]) -> Placed {
    let (first, last) = (accesses.events[range.from], accesses.events[range.to - 1]);
    let before = events[first].part.map_or(0, |(k, _)| k as usize - 1);
    let after = events[last].part.map_or(0, |(k, n)| (n - k) as usize);
    let last = (last + after).min(events.len() - 1);
    Placed { first: first - before, last, title: range.title, ends: true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use BlockKind::{Function, Loop, Section, Thread};
    use foretrace_trace::{ThreadId, VarId};

    /// A thread that reads these variables; `|` is a join.
    fn events(text: &str) -> Vec<Event> {
        let read = |var| Op::Read { var: VarId(var), dst: None, value: None, guard: None };
        let op = |letter: char| if letter == '|' { Op::Join { child: ThreadId(1) } } else { read(letter as u32) };
        text.chars()
            .map(|c| Event { thread: ThreadId(0), op: op(c), loc: None, at: None, part: None, tried: false })
            .collect()
    }

    fn span(kind: BlockKind, start: u32, end: u32) -> Span {
        let title = Title { kind, label: None, loc: None, called_at: None };
        Span { thread: 0, start, end: Some(end), title, may_be_thread: false, is_outermost_call: false }
    }

    /// Kind, first and last event of each block.
    fn made(text: &str, spans: Vec<Span>) -> Vec<(BlockKind, usize, usize)> {
        let events = events(text);
        let options = Options::default();
        let threads = [Title { kind: Thread, label: None, loc: None, called_at: None }];
        let about = About { options: &options, events: &events, wanted: &|_| true, threads: &threads };
        blocks(spans, &about).into_iter().map(|block| (block.title.kind, block.first, block.last)).collect()
    }

    #[test]
    fn a_block_needs_two_accesses() {
        assert_eq!(made("xyx", vec![span(Function, 0, 1)]), [(Thread, 0, 2)]);
        assert_eq!(made("x", vec![]), []);
        assert_eq!(made("xy", vec![]), [(Thread, 0, 1)]);
        assert_eq!(made("xyy", vec![span(Function, 0, 2)]), [(Thread, 0, 2), (Function, 0, 1)]);
    }

    #[test]
    fn of_blocks_with_the_same_accesses_the_innermost_stays() {
        assert_eq!(made("xx", vec![span(Loop, 0, 2), span(Function, 0, 2), span(Section, 0, 2)]), [(Section, 0, 1)]);
    }

    #[test]
    fn no_block_spans_a_join() {
        assert_eq!(made("xx|xx", vec![span(Function, 1, 5)]), [(Thread, 0, 1), (Function, 3, 4)]);
    }

    #[test]
    fn a_section_that_crosses_turns_is_cut_there() {
        // The lock is held from the first turn into the second.
        let spans = vec![span(Loop, 0, 4), span(Section, 2, 6), span(Loop, 4, 8)];
        let expected = [(Thread, 0, 7), (Loop, 0, 3), (Section, 2, 3), (Loop, 4, 7), (Section, 4, 5)];
        assert_eq!(made("xxxxxxxx", spans), expected);
    }

    #[test]
    fn a_section_holds_the_calls_inside_of_it() {
        let spans = vec![span(Function, 2, 4), span(Section, 0, 6)];
        assert_eq!(made("xxxxxxx", spans), [(Thread, 0, 6), (Section, 0, 5), (Function, 2, 3)]);
    }

    #[test]
    fn the_only_outermost_call_is_the_thread() {
        let own = |mut span: Span, first: bool| {
            (span.may_be_thread, span.is_outermost_call) = (first, true);
            span
        };
        assert_eq!(made("xxyy", vec![own(span(Function, 0, 2), true)]), [(Thread, 0, 3)]);
        let tasks = vec![own(span(Function, 0, 2), true), own(span(Function, 2, 4), false)];
        assert_eq!(made("xxyy", tasks), [(Thread, 0, 3), (Function, 0, 1), (Function, 2, 3)]);
    }
}
