//! An incremental solver over one trace's constraints: asserted once, each candidate a set of assumptions.

use super::backend::{Backend, Outcome, Unsupported, Until};
use super::difference_logic::{self, DifferenceLogic};
use super::propagated::Propagated;
use super::sat::Sat;
use crate::Order;
use crate::limit::Limit;
use foretrace_encodings::{Encoder, Paths, Query, Rule, Rules, TraceView};
use foretrace_trace::{EventId, Pattern, TermId, Triple, Value};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use z3::ast::Bool;
use z3::{SatResult, Solver};

/// Terms of one session: about a gigabyte with what Z3 makes of them.
pub const MOST_TERMS: usize = 4_000_000;

/// Steps of the solver for a remark on a verdict: not time, so that the same input gives the same bytes.
pub const REMARK_WORK: u32 = 20_000;

#[cfg(test)]
mod tests;

/// What bounds a query.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Time of one query.
    pub timeout: Duration,
    /// When the run must be over.
    pub deadline: Option<Instant>,
    /// How many steps of its solver one question of a query may take, where that is bounded: unlike time, the same on every machine.
    pub work: Option<u32>,
    /// Set when the user stops the run.
    pub stop: &'a AtomicBool,
}

impl Limits<'_> {
    /// The limit that is reached already, if one is.
    pub fn reached(&self) -> Option<Limit> {
        if self.stop.load(Ordering::Relaxed) {
            return Some(Limit::Interrupted);
        }
        self.deadline.filter(|deadline| Instant::now() >= *deadline).map(|_| Limit::Budget)
    }

    /// The limit that encoding a query since `began` has reached, if one is.
    pub fn of_encoding(&self, began: Instant, terms: usize) -> Option<Limit> {
        if terms > MOST_TERMS {
            return Some(Limit::Size);
        }
        let late = began.elapsed() > self.timeout;
        self.reached().or(late.then_some(Limit::Timeout))
    }

    /// The limits of what is only said of a verdict that stands.
    fn of_remark(self) -> Self {
        Limits { work: Some(self.work.map_or(REMARK_WORK, |work| work.min(REMARK_WORK))), ..self }
    }

    fn of_query(&self) -> Until<'_> {
        let own = Instant::now() + self.timeout;
        Until { deadline: self.deadline.map_or(own, |deadline| own.min(deadline)), work: self.work, stop: self.stop }
    }

    /// Asks Z3 under these assumptions, for as long as a query may take. If a limit of the run is reached it does not ask, since Z3 takes
    /// long even to prepare a question.
    pub(super) fn check(&self, solver: &Solver, assumptions: &[Bool]) -> SatResult {
        if self.reached().is_some() {
            return SatResult::Unknown;
        }
        difference_logic::check(solver, assumptions, self.of_query())
    }

    /// The limit for which Z3 did not decide its last query.
    pub(super) fn of_unknown(&self, solver: &Solver) -> Limit {
        self.of_undecided(solver.get_reason_unknown())
    }

    /// The limit for which a query stays undecided, by the reason that its solver gives.
    fn of_undecided(&self, reason: Option<String>) -> Limit {
        let by_time = |reason: &String| reason == "timeout" || reason == "canceled" || reason.is_empty();
        self.reached().unwrap_or(match reason {
            Some(reason) if !by_time(&reason) => Limit::Solver(reason),
            _ => Limit::Timeout,
        })
    }
}

/// What a solver says of a query.
#[derive(Debug)]
pub enum Answer {
    /// There is a prefix.
    Feasible(Assignment),
    /// There is none; whether that rests on pinned values.
    Infeasible {
        /// Without the pins there would be one, or it could not be told.
        rests_on_pin: bool,
    },
    /// Not decided.
    Unknown(Limit),
}

impl Answer {
    fn kind(&self) -> &'static str {
        match self {
            Answer::Feasible(_) => "feasible",
            Answer::Infeasible { .. } => "infeasible",
            Answer::Unknown(_) => "unknown",
        }
    }
}

/// The part of a solver's assignment from which a schedule is made.
#[derive(Clone, Debug, Default)]
pub struct Assignment {
    /// The steps of the prefix that order atoms speak of, in order.
    pub order: Vec<EventId>,
}

/// An order that every prefix keeps: one that holds the later event holds the earlier one before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KnownOrder {
    /// What comes first.
    pub earlier: EventId,
    /// What comes after it.
    pub later: EventId,
    /// Whether only the prefixes keep it in which pinned values hold, as far as is known.
    pub rests_on_pin: bool,
}

impl KnownOrder {
    fn tell(self, encoder: &mut Encoder<'_>) {
        match self.rests_on_pin {
            true => encoder.know_order_by_pins(self.earlier, self.later),
            false => encoder.know_order(self.earlier, self.later),
        }
    }
}

/// What a session is asked for.
#[derive(Clone, Copy)]
enum Wanted<'q> {
    /// This candidate, with a pattern under guarded independence.
    One(Triple, Option<Pattern>),
    /// First and then remote of this candidate, and not second; with a pattern under guarded independence.
    Interruption(Triple, Option<Pattern>),
    /// A candidate with any of these remote accesses; and whether it is of interest that a verdict rests on pins.
    Any(EventId, &'q [EventId], EventId, bool),
    /// A prefix that breaks one of these orders, each (earlier, later); and whether it is of interest that a verdict rests on pins.
    Broken(&'q [(EventId, EventId)], bool),
    /// A prefix that ends with the later event and holds the earlier one.
    After(EventId, EventId),
    /// A prefix after which this branch goes the other way.
    OtherWay(EventId),
    /// A violation path, and its end where that is part of a step of several events.
    Paths(&'q Paths, Option<EventId>),
}

impl Wanted<'_> {
    /// Whether what was learned of others may be of little use for it. Those about pairs and orders follow each other.
    fn is_one(self) -> bool {
        matches!(self, Wanted::One(..) | Wanted::After(..) | Wanted::Any(.., true))
    }

    /// Whether it is of interest that a verdict rests on pins.
    fn tells_pins(self) -> bool {
        self.is_one() || matches!(self, Wanted::Broken(_, true))
    }

    fn query(self, encoder: &mut Encoder<'_>, go_on: &mut dyn FnMut(usize) -> bool) -> Option<Query> {
        match self {
            Wanted::One(triple, guarded) => encoder.query_while(triple, guarded, go_on),
            Wanted::Interruption(triple, guarded) => encoder.query_interruption_while(triple, guarded, go_on),
            Wanted::Any(first, remotes, second, _) => encoder.query_any_while(first, remotes, second, go_on),
            Wanted::Broken(orders, _) => encoder.query_orders_while(orders, go_on),
            Wanted::After(earlier, later) => encoder.query_after_while(earlier, later, go_on),
            Wanted::OtherWay(branch) => encoder.query_other_way_while(branch, go_on),
            Wanted::Paths(paths, last) => encoder.query_paths_while(paths, last, go_on),
        }
    }
}

/// A solver with the constraints of one trace.
pub struct Session<'a> {
    encoder: Encoder<'a>,
    solver: Box<dyn Backend + 'a>,
    rules: Rules,
    constants: &'a FxHashMap<EventId, Value>,
    /// Who decides.
    order: Order,
    /// Who goes on when the solver's way with values does not lead there.
    next: Option<Order>,
    seed: u32,
    /// Orders that are known besides those of the facts.
    known: Vec<KnownOrder>,
    told: usize,
    asserted: usize,
    has_pins: bool,
    usable: bool,
    /// Terms of all queries together.
    room: usize,
    /// What the next query may have of these.
    most_terms: usize,
}

impl<'a> Session<'a> {
    /// A session without constraints yet.
    pub fn new(
        view: TraceView<'a>,
        rules: Rules,
        constants: &'a FxHashMap<EventId, Value>,
        order: Order,
        seed: u32,
    ) -> Session<'a> {
        let (first, next) = match order {
            Order::Auto => (Order::Sat, Some(Order::Order)),
            Order::Sat => (Order::Sat, Some(Order::Order)),
            other => (other, None),
        };
        let encoder = match first {
            Order::Sat => Encoder::for_schedules(view, rules.clone(), constants),
            _ => Encoder::new(view, rules.clone(), constants),
        };
        Session {
            encoder: encoder.narrowed(),
            solver: backend(view, first, seed),
            rules,
            constants,
            order: first,
            next,
            seed,
            known: Vec::new(),
            told: 0,
            asserted: 0,
            has_pins: false,
            usable: true,
            room: MOST_TERMS,
            most_terms: MOST_TERMS,
        }
    }

    /// The same with room for so many terms.
    pub fn with_room(self, terms: usize) -> Session<'a> {
        Session { room: terms, most_terms: terms, ..self }
    }

    /// From now on a query is not decided if the terms of all queries so far would be more than this part of what a session may have.
    /// Unlike a time limit, this also bounds the memory that Z3 uses for them.
    pub fn spend_at_most(&mut self, one_of: usize) {
        self.most_terms = self.room / one_of;
    }

    /// Whether a query that may have this part of a session's terms can be asked of this one: its terms so far count, too.
    pub fn has_room(&self, one_of: usize) -> bool {
        self.encoder.build().terms.len() <= self.room / one_of
    }

    /// Whether the session can take more queries. After one that was too large to encode it cannot.
    pub fn is_usable(&self) -> bool {
        self.usable
    }

    /// The encoder, for its size and facts.
    pub fn encoder(&self) -> &Encoder<'a> {
        &self.encoder
    }

    /// Decides a candidate; with a pattern, under guarded independence for that pattern.
    pub fn decide(&mut self, triple: Triple, guarded: Option<Pattern>, limits: Limits<'_>) -> Answer {
        self.decide_wanted(Wanted::One(triple, guarded), limits)
    }

    /// Decides whether there is a prefix that holds first and then remote of a candidate, and not second. With a pattern, the two must also
    /// depend on each other in that prefix, under guarded independence. Not for a session of complete executions.
    pub fn decide_interruption(&mut self, triple: Triple, guarded: Option<Pattern>, limits: Limits<'_>) -> Answer {
        self.decide_wanted(Wanted::Interruption(triple, guarded), limits)
    }

    /// Decides whether there is a prefix that shows a candidate with any of these remote accesses, at least one, under conflict
    /// independence; not whether that rests on pins.
    pub fn decide_any(&mut self, first: EventId, remotes: &[EventId], second: EventId, limits: Limits<'_>) -> Answer {
        self.decide_wanted(Wanted::Any(first, remotes, second, false), limits)
    }

    /// The same, and whether that rests on pins: then it may do so for some of the accesses only.
    pub fn decide_any_and_pins(
        &mut self,
        first: EventId,
        remotes: &[EventId],
        second: EventId,
        limits: Limits<'_>,
    ) -> Answer {
        self.decide_wanted(Wanted::Any(first, remotes, second, true), limits)
    }

    /// Decides whether there is a prefix that breaks one of these orders, each (earlier, later): that holds the later event without
    /// the earlier one before it.
    pub fn decide_orders(&mut self, orders: &[(EventId, EventId)], limits: Limits<'_>) -> Answer {
        self.decide_wanted(Wanted::Broken(orders, false), limits)
    }

    /// The same, and whether it rests on pins that there is none: then it may do so for some of the orders only.
    pub fn decide_orders_and_pins(&mut self, orders: &[(EventId, EventId)], limits: Limits<'_>) -> Answer {
        self.decide_wanted(Wanted::Broken(orders, true), limits)
    }

    /// Decides whether some prefix ends with the later event and holds the earlier one.
    pub fn decide_after(&mut self, earlier: EventId, later: EventId, limits: Limits<'_>) -> Answer {
        self.decide_wanted(Wanted::After(earlier, later), limits)
    }

    /// Decides whether after some prefix this branch is next in its thread, and its condition does not hold. An event that others can notice
    /// must come before it in its thread.
    pub fn decide_other_way(&mut self, branch: EventId, limits: Limits<'_>) -> Answer {
        self.decide_wanted(Wanted::OtherWay(branch), limits)
    }

    /// Decides whether some prefix holds one of these violation paths; `last` is the path's end where that is part of a step of
    /// several events. What was asserted for one question stays, but constrains no other.
    pub fn decide_paths(&mut self, paths: &Paths, last: Option<EventId>, limits: Limits<'_>) -> Answer {
        self.decide_wanted(Wanted::Paths(paths, last), limits)
    }

    /// From now on every prefix that holds the later event is known to hold the earlier one before it.
    pub fn know_order(&mut self, order: KnownOrder) {
        self.known.push(order);
        order.tell(&mut self.encoder);
    }

    fn decide_wanted(&mut self, wanted: Wanted<'_>, limits: Limits<'_>) -> Answer {
        let began = Instant::now();
        if wanted.is_one() && self.solver.is_worn() {
            self.solver = backend(self.encoder.view(), self.order, self.seed);
            self.told = 0;
            self.asserted = 0;
        }
        loop {
            let mut reached = None;
            let most = self.most_terms;
            let query = wanted.query(&mut self.encoder, &mut |terms| {
                reached = if terms > most { Some(Limit::Size) } else { limits.of_encoding(began, terms) };
                reached.is_none()
            });
            let Some(query) = query else {
                self.usable = false;
                return Answer::Unknown(reached.unwrap_or(Limit::Size));
            };
            let encoded = began.elapsed();
            if query.goals.contains(&self.encoder.build().falsity()) {
                return Answer::Infeasible { rests_on_pin: false };
            }
            let added = self.encoder.constraints().len() - self.asserted;
            let begun = self.begin(&query);
            let asserted = began.elapsed() - encoded;
            let Some(answer) = begun.ok().and_then(|()| self.answer(&query, wanted.tells_pins(), limits)) else {
                self.give_up_schedules();
                continue;
            };
            self.solver.end();
            tracing::debug!(
                triple = %query.triple,
                cone = self.encoder.cone_size(),
                constraints = self.asserted,
                added,
                encode = ?encoded,
                assert = ?asserted,
                solve = ?(began.elapsed() - encoded - asserted),
                "{}",
                answer.kind()
            );
            return answer;
        }
    }

    /// Decides the query begun; nothing where another solver is to be asked.
    fn answer(&mut self, query: &Query, tells_pins: bool, limits: Limits<'_>) -> Option<Answer> {
        let rests_on_pin = match self.ask(Some(query.pins), limits) {
            Outcome::Sat => return Some(self.assignment()),
            Outcome::Undecided(reason) => return Some(Answer::Unknown(limits.of_undecided(reason))),
            Outcome::Beyond => return None,
            Outcome::Unsat if !self.has_pins || !tells_pins || !self.solver.may_need_assumed() => false,
            Outcome::Unsat => match self.ask(None, limits.of_remark()) {
                Outcome::Beyond => return None,
                outcome => outcome != Outcome::Unsat,
            },
        };
        Some(Answer::Infeasible { rests_on_pin })
    }

    /// Goes on with a solver that speaks of everything, and all constraints.
    fn give_up_schedules(&mut self) {
        let view = self.encoder.view();
        let next = self.next.take().expect("Z3 speaks of everything");
        self.encoder = Encoder::new(view, self.rules.clone(), self.constants).narrowed();
        self.known.iter().for_each(|order| order.tell(&mut self.encoder));
        self.solver = backend(view, next, self.seed);
        self.order = next;
        self.told = 0;
        self.asserted = 0;
    }

    /// Hands what is new and the query to the solver.
    fn begin(&mut self, query: &Query) -> Result<(), Unsupported> {
        for obligation in &self.encoder.obligations()[self.told..] {
            self.solver.post(obligation)?;
            self.told += 1;
        }
        let terms = &self.encoder.build().terms;
        for constraint in &self.encoder.constraints()[self.asserted..] {
            self.has_pins |= constraint.rule() == Rule::Pins;
            self.solver.assert(terms, constraint.term)?;
            self.asserted += 1;
        }
        self.solver.begin(terms, &query.goals)
    }

    fn ask(&mut self, assumed: Option<TermId>, limits: Limits<'_>) -> Outcome {
        self.solver.ask(&self.encoder.build().terms, assumed, limits.of_query())
    }

    fn assignment(&mut self) -> Answer {
        let steps: Vec<EventId> = self.encoder.ordered().collect();
        let mut placed: Vec<(i64, EventId)> = Vec::with_capacity(steps.len());
        for step in steps {
            if self.is_included(step) {
                placed.push((self.solver.place(step), step));
            }
        }
        placed.sort_unstable();
        Answer::Feasible(Assignment { order: placed.into_iter().map(|(_, step)| step).collect() })
    }

    fn is_included(&mut self, step: EventId) -> bool {
        let Some(term) = self.encoder.inclusion_term(step) else { return false };
        self.solver.is_true(&self.encoder.build().terms, term)
    }
}

fn backend<'a>(view: TraceView<'a>, order: Order, seed: u32) -> Box<dyn Backend + 'a> {
    match order {
        Order::Idl => Box::new(DifferenceLogic::new(view.trace, seed)),
        Order::Sat => Box::new(Sat::new(view.trace, view.trace_index, seed)),
        Order::Order | Order::Auto => Box::new(Propagated::new(view.trace, view.trace_index, seed)),
    }
}
