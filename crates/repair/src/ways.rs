//! Where the program's own code leads to steps that lie elsewhere: in a function that it calls, in code that the compiler put in, or
//! in a library. Programmers make lines of their own function atomic, so the ends of a section have to be such lines.

use crate::place::{is_of_library, parts_of_loc};
use foretrace_trace::{Block, BlockKind, Blocks, EventId, NameId, Op, Trace};
use rustc_hash::FxHashMap;

/// Ways from named blocks to the steps within that lie elsewhere.
pub(crate) struct Ways {
    /// Per event the latest event before it, or it, that lies in the lines of its innermost named block.
    own_before: Vec<Option<EventId>>,
    /// Per block the same before it began, of the named block around it.
    before_block: Vec<Option<EventId>>,
    /// Per block its end, where that lies in the lines of the named block around it: where it was called.
    called_at: Vec<Option<EventId>>,
    /// Per block whether it is a call of a function.
    are_functions: Vec<bool>,
    /// Per event how many blocks its thread had begun by then.
    begun: Vec<u32>,
    /// Whether turns of loops are among the blocks, where there are any.
    has_turns: bool,
}

/// A place in the lines of a block's own code that leads to a step.
#[derive(Clone, Copy)]
pub(crate) struct Way<'t> {
    pub(crate) file: &'t str,
    pub(crate) line: u32,
    /// Whether the step is surely done there: the line calls the function that it is in.
    pub(crate) is_sure: bool,
}

impl Ways {
    /// Reads them off a trace, with the named block around each block and each event.
    pub(crate) fn new(trace: &Trace, blocks: &Blocks, around: &[Option<u32>], innermost: &[Option<u32>]) -> Ways {
        let own = OwnLines::new(trace, blocks.all(), innermost);
        let mut ways = Ways {
            own_before: vec![None; trace.events.len()],
            before_block: vec![None; blocks.all().len()],
            called_at: vec![None; blocks.all().len()],
            are_functions: blocks.all().iter().map(|block| block.kind == BlockKind::Function).collect(),
            begun: vec![0; trace.events.len()],
            has_turns: false,
        };
        let mut latest: Vec<Option<EventId>> = vec![None; blocks.all().len()];
        let mut outside: Vec<Option<EventId>> = vec![None; trace.threads.len()];
        let mut previous: Vec<Option<EventId>> = vec![None; trace.threads.len()];
        let mut begun: Vec<u32> = vec![0; trace.threads.len()];
        for (id, event) in trace.iter() {
            let thread = event.thread.index();
            begun[thread] += u32::from(matches!(event.op, Op::Begin { .. } | Op::Call { .. }));
            ways.begun[id.index()] = begun[thread];
            ways.has_turns |=
                matches!(event.op, Op::Begin { kind: BlockKind::Loop | BlockKind::Section | BlockKind::Thread, .. });
            let block = innermost[id.index()];
            let own_latest = block.map_or(&mut outside[thread], |block| &mut latest[block as usize]);
            if own.has(trace, block, id) {
                *own_latest = Some(id);
            }
            if let Some(number) = block.filter(|number| blocks.all()[*number as usize].first == id) {
                let taken = previous[thread].filter(|previous| {
                    matches!(trace.event(*previous).op, Op::Acquire { .. }) && own.has(trace, block, *previous)
                });
                *own_latest = taken.or(*own_latest);
                let parent = around[number as usize];
                ways.before_block[number as usize] = match parent {
                    Some(parent) => latest[parent as usize],
                    None => outside[thread],
                };
            }
            ways.own_before[id.index()] = match block {
                Some(block) => latest[block as usize],
                None => outside[thread],
            };
            if let Some(number) = block.filter(|number| blocks.all()[*number as usize].last == id) {
                let parent = around[number as usize];
                if matches!(event.op, Op::End { .. }) && own.has(trace, parent, id) {
                    ways.called_at[number as usize] = Some(id);
                    *parent.map_or(&mut outside[thread], |parent| &mut latest[parent as usize]) = Some(id);
                }
            }
            previous[thread] = Some(id);
        }
        ways
    }

    /// The place in a block's own lines that leads to a step which lies elsewhere, `inner` being its innermost named block. Of a mark,
    /// and without a block, only steps of libraries lie elsewhere: a mark may be anywhere in a function.
    pub(crate) fn way<'t>(
        &self,
        trace: &'t Trace,
        (block, mut inner): (Option<u32>, Option<u32>),
        step: EventId,
        around: &[Option<u32>],
    ) -> Option<Way<'t>> {
        let mut child = None;
        while inner != block {
            child = inner;
            inner = around[inner? as usize];
        }
        let place = |event: EventId, is_sure| {
            let (file, line, _) = trace.loc(event).and_then(parts_of_loc)?;
            Some(Way { file, line, is_sure })
        };
        let is_library = || trace.loc(step).and_then(parts_of_loc).is_some_and(|(file, ..)| is_of_library(file));
        let is_function = block.is_some_and(|block| self.are_functions[block as usize]);
        if !is_function && !is_library() {
            return None;
        }
        match child.map(|child| child as usize) {
            Some(child) => {
                let called = self.called_at[child].and_then(|event| place(event, true));
                called.or_else(|| place(self.before_block[child]?, false))
            }
            None => place(self.own_before[step.index()]?, false),
        }
    }

    /// How many blocks the thread of an event had begun by then.
    pub(crate) fn begun(&self, event: EventId) -> u32 {
        self.begun[event.index()]
    }

    /// Whether turns of loops are among the blocks, so that a step which is there twice without one between is no new turn.
    pub(crate) fn has_turns(&self) -> bool {
        self.has_turns
    }
}

/// Which lines are a block's own: from its first one on, in its file, to the last that is seen of its name.
struct OwnLines<'t> {
    /// Per block its file, its first line, and its name.
    starts: Vec<Option<(&'t str, u32, Option<NameId>)>>,
    last: FxHashMap<Option<NameId>, u32>,
}

impl<'t> OwnLines<'t> {
    fn new(trace: &'t Trace, blocks: &[Block], innermost: &[Option<u32>]) -> OwnLines<'t> {
        let start = |block: &Block| {
            let (file, line, _) = trace.loc(block.first).and_then(parts_of_loc)?;
            (!is_of_library(file)).then_some((file, line, block.label))
        };
        let mut own = OwnLines { starts: blocks.iter().map(start).collect(), last: FxHashMap::default() };
        for (id, _) in trace.iter() {
            let Some((file, first, label)) = innermost[id.index()].and_then(|block| own.starts[block as usize]) else {
                continue;
            };
            let line =
                trace.loc(id).and_then(parts_of_loc).filter(|(other, ..)| *other == file).map(|(_, line, _)| line);
            if let Some(line) = line.filter(|line| first <= *line) {
                let last = own.last.entry(label).or_default();
                *last = line.max(*last);
            }
        }
        own
    }

    /// Whether an event lies in the lines of a block; without one, in no library.
    fn has(&self, trace: &Trace, block: Option<u32>, event: EventId) -> bool {
        let Some((file, line, _)) = trace.loc(event).and_then(parts_of_loc) else { return false };
        let Some(block) = block else { return !is_of_library(file) };
        let Some((own, first, label)) = self.starts[block as usize] else { return false };
        let last = self.last.get(&label).copied().unwrap_or(first);
        own == file && (first..=last).contains(&line)
    }
}
