//! Facts that answers under one model have shown so far. Later questions under that model use them.

use crate::filters::RegionsByThread;
use crate::refuted_sections::RefutedSections;
use foretrace_trace::{EventId, Trace};
use std::sync::{Arc, Mutex, PoisonError};

/// Most orders that are kept: each is a constraint of every solver.
const MOST_ORDERS: usize = 1 << 16;

/// What is known of a trace in one model.
pub(super) struct Known<'a> {
    /// Refuted candidates, by their critical sections.
    pub(super) refuted: RefutedSections<'a>,
    /// Orders, each (earlier, later), that every prefix keeps.
    orders: Mutex<Vec<(EventId, EventId)>>,
}

impl<'a> Known<'a> {
    /// Nothing yet, of a trace with these regions.
    pub(super) fn new(trace: &'a Trace, regions: Arc<RegionsByThread>) -> Known<'a> {
        Known { refuted: RefutedSections::new(trace, regions), orders: Mutex::default() }
    }

    /// Adds orders, as long as there is room.
    pub(super) fn add_orders(&self, orders: &[(EventId, EventId)]) {
        let mut known = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST_ORDERS {
            known.extend(orders);
        }
    }

    /// The orders but so many of the first.
    pub(super) fn orders_from(&self, count: usize) -> Vec<(EventId, EventId)> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)[count..].to_vec()
    }
}
