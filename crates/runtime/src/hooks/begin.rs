//! Start of a hook or interposed function: the controller may stop the thread there.

use core::sync::atomic::Ordering::Relaxed;

use super::occupied::Occupied;
use crate::controller::{self, Access, stop_at_limit};
use crate::interpose::cancellation;
use crate::record::Kind;
use crate::threads::Thread;

/// Start of what writes a record.
pub trait Begin {
    /// Before a counted record.
    fn begin(&'static self);

    /// The same before an access of memory.
    fn begin_access(&'static self, kind: Kind, place: u64, address: u64, bytes: u64);

    /// The same for what writes a record that is not counted.
    fn begin_apart(&'static self);
}

impl Begin for Thread {
    #[inline(always)]
    fn begin(&'static self) {
        self.occupy();
        stop_at_limit(self);
        if self.cancellation.was_sent() {
            cancellation::notice(self);
        }
    }

    #[inline(always)]
    fn begin_access(&'static self, kind: Kind, place: u64, address: u64, bytes: u64) {
        self.occupy();
        if self.count() >= self.limit.load(Relaxed) {
            controller::point(self, Some(&Access { kind, place, address, bytes }));
        }
    }

    fn begin_apart(&'static self) {
        self.occupy();
        if self.count() >= self.limit.load(Relaxed) {
            controller::point_apart(self);
        }
    }
}
