//! What one model's questions have taught so far, for those that come after them.

use super::sections::Refuted;
use foretrace_trace::{EventId, Structure, Trace};
use std::sync::{Mutex, PoisonError};

/// What is known of a trace in one model.
pub(super) struct Known<'a> {
    /// Refuted candidates, by their critical sections.
    pub(super) refuted: Refuted<'a>,
    /// Orders, each (earlier, later), that every prefix keeps.
    orders: Mutex<Vec<(EventId, EventId)>>,
}

impl<'a> Known<'a> {
    /// Nothing yet.
    pub(super) fn new(trace: &'a Trace, structure: &Structure) -> Known<'a> {
        Known { refuted: Refuted::new(trace, structure), orders: Mutex::default() }
    }

    /// Adds orders.
    pub(super) fn add_orders(&self, orders: &[(EventId, EventId)]) {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).extend(orders);
    }

    /// The orders but so many of the first.
    pub(super) fn orders_from(&self, count: usize) -> Vec<(EventId, EventId)> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)[count..].to_vec()
    }
}
