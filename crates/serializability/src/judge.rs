//! Decides blocks: statically, by schedules that are tried first, by exploring the segment.

use crate::accesses::Accesses;
use crate::attempt::Attempts;
use crate::hunt::hunt;
use crate::judgement::{Choices, Decision, Explored, Judgement, Violation};
use crate::monitor::{Monitor, Watched};
use crate::objects::{Objects, Users};
use crate::order::Order;
use crate::path::shortest_path;
use crate::question::{Question, Questioner};
use crate::segment::{Apart, Range, Segment, Segments};
use crate::shorten::shortened;
use crate::start::Starts;
use crate::stepper::{Context, Stepper};
use foretrace_checker::{CheckError, Checker};
use foretrace_explore::{Ended, Step, System, Tally, bounded, explore};
use foretrace_index::TraceIndex;
use foretrace_trace::{
    Block, Blocks, EventId, Feasibility, Independence, Model, Observed, Question as Asked, Semantics, Trace, VarId,
};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Takes each end of an exploration: the events that led there, the steps, whether a path was found.
pub type AtEnd<'f> = dyn FnMut(&[EventId], &[Step], bool) + 'f;

/// Judges blocks of one trace.
pub struct Judge<'t> {
    trace: &'t Trace,
    observed: &'t Observed,
    semantics: Semantics<'t>,
    checker: Checker<'t>,
    trace_index: TraceIndex,
    accesses: Accesses,
    order: Order,
    objects: Objects,
    users: Users,
    blocks: &'t Blocks,
    /// Per block, the blocks right inside of it.
    inside: Vec<Vec<usize>>,
    choices: Choices,
}

impl<'t> Judge<'t> {
    /// A judge of a trace's blocks; `wanted` says which variables count.
    ///
    /// # Errors
    /// Where the trace knows too little for the model.
    pub fn new(
        trace: &'t Trace,
        observed: &'t Observed,
        blocks: &'t Blocks,
        wanted: &dyn Fn(VarId) -> bool,
        choices: Choices,
    ) -> Result<Judge<'t>, CheckError> {
        let semantics = Semantics::new(trace, observed, choices.model)?;
        let checker = checker(trace, observed, choices.model)?.within(choices.context_switches);
        let trace_index = TraceIndex::new(trace);
        let accesses = Accesses::new(trace, &trace_index, wanted);
        let order = Order::new(trace, &trace_index, observed, choices.model);
        let objects = Objects::new(trace);
        let users = Users::new(trace, &objects, |event| trace_index.position(event) as u32);
        let inside = inside_each(blocks);
        Ok(Judge {
            trace,
            observed,
            semantics,
            checker,
            trace_index,
            accesses,
            order,
            objects,
            users,
            blocks,
            inside,
            choices,
        })
    }

    /// The accesses that count.
    pub fn accesses(&self) -> &Accesses {
        &self.accesses
    }

    /// The blocks.
    pub fn blocks(&self) -> &[Block] {
        self.blocks.all()
    }

    /// The blocks right inside of one.
    pub fn inside(&self, block: usize) -> &[usize] {
        &self.inside[block]
    }

    /// The vector of an event in the partial order graph (equation 1).
    pub fn vector(&self, event: EventId) -> Vec<u32> {
        self.order.vector(self.trace, event)
    }

    /// The segment of a block.
    pub fn segment(&self, block: usize) -> Segment {
        let segments = self.segments();
        let part = self.part(block);
        let parts = |event: EventId| part.get(&event).map(|begin| begin.index());
        segments.of_block(&self.blocks()[block], &parts, self.choices.segment)
    }

    /// The frontiers of a block by its first and last access (section III.A), before shrinking.
    pub fn frontiers(&self, block: usize) -> Option<Range> {
        let segments = self.segments();
        let own = segments.accesses_of(&self.blocks()[block]);
        Some(segments.between(&self.blocks()[block], *own.first()?, *own.last()?, true))
    }

    fn segments(&self) -> Segments<'_> {
        let Judge { trace, trace_index, accesses, order, .. } = self;
        Segments { trace, trace_index, accesses, order }
    }

    /// Per access of the block that is in a block inside: where that one begins.
    fn part(&self, block: usize) -> FxHashMap<EventId, EventId> {
        let mut part = FxHashMap::default();
        for inner in &self.inside[block] {
            let inner = &self.blocks()[*inner];
            let thread = &self.trace_index.threads[inner.thread.index()];
            let from = thread.partition_point(|event| *event < inner.first);
            let to = thread.partition_point(|event| *event <= inner.last);
            let accesses = thread[from..to].iter().filter(|event| self.accesses.count(**event));
            part.extend(accesses.map(|event| (*event, inner.first)));
        }
        part
    }

    /// Judges a block. Violations of the blocks inside of it are not its own. `go_on` says whether the search may go on.
    pub fn judge(&self, block: usize, go_on: &dyn Fn() -> bool) -> Judgement {
        self.judge_as(block, &self.choices, go_on)
    }

    /// Judges a block with other choices, in the same model and over the same segment.
    pub fn judge_as(&self, block: usize, choices: &Choices, go_on: &dyn Fn() -> bool) -> Judgement {
        let begun = Instant::now();
        let limit = choices.block_limit;
        let in_time = || limit.is_none_or(|limit| begun.elapsed() < limit) && go_on();
        let segment = self.segment(block);
        let mut judgement = Judgement {
            block,
            decision: Decision::Proved,
            start: None,
            explored: Explored::default(),
            by_solver: false,
            is_dropped: false,
            time: Duration::ZERO,
            segment,
        };
        let has_own = self.segments().accesses_of(&self.blocks()[block]).len() > 1;
        let proved = judgement.segment.is_proved && (choices.static_check || !has_own);
        if !proved {
            self.search(block, choices, &mut judgement, &in_time);
        }
        judgement.time = begun.elapsed();
        judgement
    }

    fn search(&self, block: usize, choices: &Choices, judgement: &mut Judgement, go_on: &dyn Fn() -> bool) {
        let range = match choices.segment {
            true if judgement.segment.is_proved => self.frontiers(block),
            true => Some(judgement.segment.range.clone()),
            false => None,
        };
        let range = range.unwrap_or_else(|| Range::whole(&self.trace_index));
        let is_bounded = choices.context_switches.is_some();
        let mut likely = None;
        if choices.hunt {
            let found = self.likely(block, &judgement.segment, &range, go_on);
            likely = found.map(|found| match is_bounded {
                true => self.in_schedule(block, found.schedule),
                false => self.checked(block, found),
            });
        }
        // What is likely may take more context switches than there may be.
        let likely = likely.filter(|decision| !is_bounded || matches!(decision, Decision::Violated(_)));
        judgement.decision = match likely {
            Some(decision) => decision,
            None if !go_on() => Decision::Limit,
            None => {
                let mut start = self.starts().of_range(&range);
                if !choices.segment {
                    start.upper.iter_mut().for_each(|upper| *upper = 0);
                }
                self.explored((block, choices), start, judgement, go_on)
            }
        };
    }

    fn starts(&self) -> Starts<'_> {
        let Judge { trace, observed, trace_index, order, objects, users, .. } = self;
        Starts { trace, trace_index, observed, order, objects, users, model: self.choices.model }
    }

    fn context<'a>(&'a self, block: usize, range: Range) -> Context<'a> {
        let numbers = (&self.objects, &self.users);
        let watched = (self.blocks()[block], self.part(block));
        let counts = self.choices.context_switches.is_some();
        Context::new(self.trace, &self.semantics, &self.trace_index, &self.accesses, numbers, watched, (range, counts))
    }

    /// A schedule that shows a violation, of those that are likely to: from the least that must come first, and from the
    /// recorded order.
    fn likely(&self, block: usize, segment: &Segment, range: &Range, go_on: &dyn Fn() -> bool) -> Option<Found> {
        let own = self.blocks()[block].thread.index();
        let context = self.context(block, range.clone());
        let first = *segment.leaving.first()?;
        let least = self.starts().before(range);
        let recorded: Vec<EventId> = (0..first.0).map(EventId).collect();
        for before in [recorded, least] {
            let Ok(start) = Stepper::new(&context, &before, true) else { continue };
            if start.found() {
                return Found::in_state(&start);
            }
            if let Some(found) = hunt(&start, own, segment, &mut || go_on()) {
                return Found::in_state(&found);
            }
        }
        None
    }

    fn explored(
        &self,
        (block, choices): (usize, &Choices),
        mut range: Range,
        judgement: &mut Judgement,
        go_on: &dyn Fn() -> bool,
    ) -> Decision {
        let is_bounded = choices.context_switches.is_some();
        // What comes first as recorded may not be able to without what was left out; then less comes first.
        loop {
            let before = self.starts().before(&range);
            let context = self.context(block, range.clone());
            match Stepper::new(&context, &before, false) {
                Err(event) => self.starts().without(&mut range, event),
                Ok(start) => {
                    let start = if is_bounded { start.with_choice_of_start() } else { start };
                    judgement.start = Some(range);
                    let (found, tally, ended) = self.run(&start, choices, go_on);
                    judgement.explored =
                        Explored { interleavings: tally.executions, redundant: tally.redundant, steps: tally.steps };
                    return match (found, ended) {
                        (Some(steps), _) => match again(&context, &before, &steps, is_bounded) {
                            Some(found) => self.checked(block, found),
                            None => Decision::Refused("does not happen again".to_string()),
                        },
                        (None, Ended::Limit) => Decision::Limit,
                        (None, _) if tally.cut > 0 => Decision::NotWithin(choices.context_switches.unwrap_or(0)),
                        (None, _) => Decision::Holds,
                    };
                }
            }
        }
    }

    /// Explores from a state; the steps to a violation.
    fn run(
        &self,
        start: &Stepper<'_>,
        choices: &Choices,
        go_on: &dyn Fn() -> bool,
    ) -> (Option<Vec<(usize, usize)>>, Tally, Ended) {
        let mut found = None;
        if start.found() {
            return (Some(Vec::new()), Tally::default(), Ended::Stopped);
        }
        let most = choices.most_steps.unwrap_or(u64::MAX);
        let mut go_on = |tally: &Tally| tally.steps < most && go_on();
        let (tally, ended) = match choices.context_switches {
            Some(switches) => bounded(start, switches, &mut go_on, &mut |state, steps| {
                if state.found() {
                    found = Some(steps.to_vec());
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            }),
            None => explore(start, choices.reduction, &mut go_on, &mut |state, steps: &[Step]| {
                if state.found() {
                    found = Some(steps.iter().map(|step| (step.thread, step.choice)).collect());
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            }),
        };
        (found, tally, ended)
    }

    /// The violation that a schedule shows, run by the trace's checker.
    fn checked(&self, block: usize, found: Found) -> Decision {
        let whole = &self.blocks()[block];
        let begin = self.part(block).get(&found.end).copied();
        let shows = |schedule: &[EventId]| -> Result<Violation, String> {
            let most = self.choices.context_switches;
            let path = shortest_path(self.trace, &self.accesses, whole, begin, schedule, found.end, most);
            let path = path.ok_or("the schedule holds no violation path")?;
            self.checker.check(path, schedule).map_err(|error| error.to_string())
        };
        match shows(&found.schedule) {
            Err(reason) => return Decision::Refused(reason),
            Ok(violation) if !self.choices.shorten => return Decision::Violated(Box::new(violation)),
            Ok(_) => {}
        }
        let schedule = shortened(self.trace, found.schedule, &mut |attempt| shows(attempt).is_ok());
        match shows(&schedule) {
            Ok(violation) => Decision::Violated(Box::new(violation)),
            Err(reason) => Decision::Refused(reason),
        }
    }

    /// What a solver may be asked of a block in place of exploring it; `None` where that would be too much for one.
    pub fn questions(&self, block: usize) -> Option<Vec<Question>> {
        let questioner = Questioner { trace: self.trace, trace_index: &self.trace_index, accesses: &self.accesses };
        questioner.about_block(&self.blocks()[block], &self.segment(block), &self.part(block))
    }

    /// The same of paths with an effect alone, where a violation is one that attempts may drop; `None` where it is not, or
    /// too much would be asked.
    pub fn questions_with_effect(&self, block: usize, violation: &Violation) -> Option<Vec<Question>> {
        let (first, last) = (*violation.claim().events.first()?, *violation.claim().events.last()?);
        let attempts = Attempts::of_block(self.trace, &self.trace_index, &self.blocks()[block]);
        if !attempts.concern(first, last) {
            return None;
        }
        let questions = self.questions(block)?;
        Some(questions.iter().flat_map(|question| question.with_effect(&attempts)).collect())
    }

    /// The violation of a block that a schedule shows with a path back to one of these accesses.
    pub fn in_schedule_at(&self, block: usize, schedule: &[EventId], ends: &[EventId]) -> Decision {
        let (whole, part) = (&self.blocks()[block], self.part(block));
        for (at, end) in schedule.iter().enumerate().filter(|(_, event)| ends.contains(event)) {
            let (begin, up_to) = (part.get(end).copied(), &schedule[..=at]);
            let most = self.choices.context_switches;
            if shortest_path(self.trace, &self.accesses, whole, begin, up_to, *end, most).is_some() {
                return self.checked(block, Found { schedule: up_to.to_vec(), end: *end });
            }
        }
        Decision::Refused("the schedule holds no violation path to what was asked for".to_string())
    }

    /// The same of all paths that conflicts and program order alone would allow: what else excludes them is not used.
    pub fn questions_of_all(&self, block: usize) -> Option<Vec<Question>> {
        let questioner = Questioner { trace: self.trace, trace_index: &self.trace_index, accesses: &self.accesses };
        let own = self.segments().accesses_of(&self.blocks()[block]);
        let range = Range::whole(&self.trace_index);
        let all = Segment { range, is_proved: own.len() < 2, leaving: own.clone(), entering: own };
        questioner.about_block(&self.blocks()[block], &all, &self.part(block))
    }

    /// What keeps violation paths from each access of a block that the static check proves.
    pub fn apart(&self, block: usize) -> Vec<(EventId, Apart)> {
        let part = self.part(block);
        self.segments().apart(&self.blocks()[block], &|event| part.get(&event).map(|begin| begin.index()))
    }

    /// The structure of the trace.
    pub fn trace_index(&self) -> &TraceIndex {
        &self.trace_index
    }

    /// What is asked.
    pub fn choices(&self) -> &Choices {
        &self.choices
    }

    /// The violation of a block that a schedule shows.
    pub fn in_schedule(&self, block: usize, schedule: Vec<EventId>) -> Decision {
        if self.choices.context_switches.is_some() {
            return self.within(block, schedule);
        }
        let vars = schedule.iter().filter_map(|event| self.trace.event(*event).op.var()).map(|var| var.0);
        let watched = Watched::new(self.blocks()[block], self.part(block), vars);
        let mut monitor = Monitor::new(&watched, self.trace.threads.len());
        for (at, event) in schedule.iter().enumerate() {
            monitor.see(self.trace, &self.accesses, &watched, *event, true);
            if let Some(end) = monitor.found() {
                return self.checked(block, Found { schedule: schedule[..=at].to_vec(), end });
            }
        }
        Decision::Refused("the schedule holds no violation path".to_string())
    }

    /// The first violation of a block that a schedule shows with few context switches.
    fn within(&self, block: usize, schedule: Vec<EventId>) -> Decision {
        let (whole, part) = (&self.blocks()[block], self.part(block));
        let most = self.choices.context_switches;
        for (at, end) in schedule.iter().enumerate() {
            if !self.accesses.count(*end) || !whole.holds(self.trace.event(*end).thread, *end, *end) {
                continue;
            }
            let (begin, up_to) = (part.get(end).copied(), &schedule[..=at]);
            if shortest_path(self.trace, &self.accesses, whole, begin, up_to, *end, most).is_some() {
                return self.checked(block, Found { schedule: up_to.to_vec(), end: *end });
            }
        }
        Decision::Refused("the schedule holds no violation path with so few context switches".to_string())
    }

    /// The violation of a block that the recorded order shows, with its path back to the block at `end`.
    pub fn in_recorded_order(&self, block: usize, end: EventId) -> Decision {
        let schedule = (0..=end.0).map(EventId).collect();
        self.checked(block, Found { schedule, end })
    }

    /// The judgement of a block whose decision is known, with its segment.
    pub fn known(&self, block: usize, decision: Decision) -> Judgement {
        Judgement::unexplored(block, decision, self.segment(block))
    }

    /// Explores a range for a block and shows each end: the events that led there, the steps, whether a path was found.
    /// `None` where the events above the range cannot come first as recorded.
    pub fn explore(&self, block: usize, range: Range, reduce: bool, at_end: &mut AtEnd<'_>) -> Option<Tally> {
        let before = self.starts().before(&range);
        let context = self.context(block, range);
        let start = Stepper::new(&context, &before, true).ok()?;
        let (tally, _) = explore(&start, reduce, &mut |_| true, &mut |state, steps| {
            at_end(state.schedule(), steps, state.found());
            ControlFlow::Continue(())
        });
        Some(tally)
    }
}

/// A schedule that holds a violation path, up to where that comes back.
struct Found {
    schedule: Vec<EventId>,
    end: EventId,
}

impl Found {
    fn in_state(state: &Stepper<'_>) -> Option<Found> {
        let end = state.end()?;
        let mut schedule = state.schedule().to_vec();
        let to = schedule.iter().position(|event| *event == end)?;
        schedule.truncate(to + 1);
        Some(Found { schedule, end })
    }
}

/// What the steps of an exploration lead to.
fn again(context: &Context<'_>, before: &[EventId], steps: &[(usize, usize)], is_bounded: bool) -> Option<Found> {
    let mut state = Stepper::new(context, before, true).ok()?;
    if is_bounded {
        state = state.with_choice_of_start();
    }
    for (thread, choice) in steps {
        state.step(*thread, *choice);
    }
    Found::in_state(&state)
}

/// What says whether schedules hold violation paths: any conflict counts, up to where the path comes back.
fn checker<'t>(trace: &'t Trace, observed: &'t Observed, model: Model) -> Result<Checker<'t>, CheckError> {
    let (feasibility, independence) = (Feasibility::Prefix, Independence::Conflict);
    Checker::new(trace, observed, &[], Asked { model, feasibility, independence })
}

/// Per block, the blocks right inside of it.
fn inside_each(blocks: &Blocks) -> Vec<Vec<usize>> {
    let mut inside: Vec<Vec<usize>> = vec![Vec::new(); blocks.all().len()];
    for position in 0..blocks.all().len() {
        if let Some(outer) = blocks.around(position) {
            inside[outer].push(position);
        }
    }
    inside
}
