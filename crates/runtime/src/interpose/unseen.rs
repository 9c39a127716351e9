//! Calls that may order threads and that nothing here models, as records say that they ran, before and after. `docs/orders.md`
//! lists them; `unseen_calls.rs` interposes them.
//!
//! Those of one object order threads among themselves; those without one may order anything.

use core::ffi::CStr;

use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::record::Kind;
#[cfg(doc)]
use crate::record::object;
use crate::sys;
use crate::threads::{self, Thread};

/// What ran, and what it concerns.
#[derive(Clone, Copy)]
pub struct What {
    pub name: &'static CStr,
    pub object: Option<&'static CStr>,
    /// What it does to the object, see [`object`]; 0 for everything.
    pub does: u64,
}

impl What {
    pub const fn anything(name: &'static CStr) -> What {
        What { name, object: None, does: 0 }
    }

    pub const fn named(name: &'static CStr, object: &'static CStr) -> What {
        What { name, object: Some(object), does: 0 }
    }
}

/// Timers, however they are set and however they are noticed.
pub const TIMERS: &CStr = c"timers";
/// Requests of input and output that go on meanwhile.
pub const ASYNCHRONOUS: &CStr = c"asynchronous input and output";
/// Other processes.
pub const PROCESSES: &CStr = c"processes";
/// Sockets that take connections.
pub const LISTENING: &CStr = c"sockets that listen";
/// Names in folders, whichever.
pub const NAMES: &CStr = c"names of files";

/// What keeps the calls of one stream of `stdio` apart.
pub const STREAM_LOCKS: &CStr = c"locks of streams";

/// Whether there is, or was, a second thread.
pub fn has_threads() -> bool {
    threads::count() > 1
}

/// Says that it runs here.
pub fn mark(thread: &'static Thread, what: What, place: usize) {
    let error = sys::errno();
    thread.begin();
    record(thread, what, place);
    thread.end();
    sys::set_errno(error);
}

/// The same inside of a hook.
pub fn record(thread: &'static Thread, what: What, place: usize) {
    let object = what.object.map_or(0, |object| object.as_ptr() as u64 | what.does);
    log::sync(thread, Kind::Unseen, place, what.name.as_ptr() as u64, object);
}
