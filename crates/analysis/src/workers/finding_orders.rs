//! A worker asks for orders that every prefix keeps, and takes in those that others found.

use super::SolverWorker;
use super::together::Together;
use crate::bounds::Bounds;
use foretrace_encodings::TraceView;
use foretrace_solve::{Answer, KnownOrder};
use foretrace_trace::{EventId, Triple};
use std::sync::Arc;

/// Most questions for the orders of a pair: each of the first ones gives up those orders that a prefix breaks.
const MOST_QUESTIONS: usize = 4;

impl SolverWorker<'_, '_> {
    /// Takes in what other workers found.
    pub(super) fn learn(&mut self, found: &Arc<[KnownOrder]>) {
        if !self.orders.told.as_ref().is_some_and(|told| Arc::ptr_eq(told, found)) {
            found.iter().for_each(|order| self.keep(*order));
            self.orders.told = Some(Arc::clone(found));
        }
    }

    /// From now on an order is known.
    fn keep(&mut self, order: KnownOrder) {
        if self.orders.add(self.context.view.trace, order) {
            self.known.push(order);
            if let Some(session) = self.session.current() {
                session.know_order(order);
            }
        }
    }

    /// Asks for orders that refute this candidate, and others of its pair. Whether they do; then whether that rests on pins. Where orders are
    /// seldom found, they are seldom asked for.
    pub(super) fn refuted_by_orders(&mut self, together: &Together<'_>, triple: Triple, work: u32) -> Option<bool> {
        let TraceView { trace, trace_index, .. } = self.context.view;
        let Triple { first, remote, second } = triple;
        let (thread, early) = (trace.event(remote).thread, remote < first);
        if !together.asks_for_orders() || self.orders.asked.contains(&(first, second, thread, early)) {
            return None;
        }
        let is_beside = |other: &EventId| trace.event(*other).thread == thread && (*other < first) == early;
        let mut remotes: Vec<EventId> = together.remotes(triple).filter(is_beside).collect();
        remotes.push(remote);
        remotes.sort_unstable();
        remotes.dedup();
        let mut bounds = Bounds::new(trace, trace_index, (first, second), remotes.into_iter());
        if bounds.orders().is_empty() || !self.orders.effort.may_try() {
            return None;
        }
        self.orders.asked.insert((first, second, thread, early));
        let found = self.find_orders(&mut bounds, work);
        self.orders.effort.tried(found.is_some());
        self.orders.come_first = found.is_some();
        for (earlier, later) in found.map(|_| bounds.orders()).into_iter().flatten() {
            let order = KnownOrder { earlier, later, rests_on_pin: found == Some(true) };
            self.orders.new.push(order);
            self.keep(order);
        }
        self.orders.refutes(trace, triple)
    }

    /// Gives up orders until the rest holds in every prefix. Whether there is a rest; then whether it rests on pins.
    fn find_orders(&mut self, bounds: &mut Bounds, work: u32) -> Option<bool> {
        let trace_index = self.context.view.trace_index;
        for _ in 0..MOST_QUESTIONS {
            match self.orders_by_work(&bounds.orders(), work) {
                Answer::Infeasible { rests_on_pin } => return Some(rests_on_pin),
                Answer::Feasible(assignment) => {
                    let step = |event| trace_index.step(self.context.view.trace, event).0;
                    if !bounds.give_up(&assignment.order, step) {
                        return None;
                    }
                }
                Answer::Unknown(_) => return None,
            }
        }
        None
    }

    fn orders_by_work(&mut self, orders: &[(EventId, EventId)], work: u32) -> Answer {
        self.work = Some(work);
        let limits = self.limits(self.context.options.timeout);
        self.work = None;
        match limits.reached() {
            Some(limit) => Answer::Unknown(limit),
            None => self.in_session(1, |session| session.decide_orders_and_pins(orders, limits)),
        }
    }
}
