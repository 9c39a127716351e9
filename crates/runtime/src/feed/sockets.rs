//! Calls on sockets. The recorder keeps their results. In a replay that follows its schedule, a thread gets the recorded results from the
//! sockets of other programs (`others.rs` says which sockets these are). Calls on other sockets are made.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::key::{Key, Source};
use super::{kept, others, stored};
use crate::hooks::occupied::Occupied;
pub use crate::outside::{Call, Head, Opening, Ready};
use crate::sys;
use crate::threads::Thread;

const fn key(call: Call) -> Key {
    Key::new(Source::Socket, call as u8)
}

/// An entry of the recording.
pub struct Given {
    pub head: Head,
    pub result: i64,
    pub data: &'static [u8],
}

static CALLS: AtomicU64 = AtomicU64::new(0);

/// Bytes of a value without bytes between its fields.
pub fn bytes_of<T: Copy>(values: &[T]) -> &[u8] {
    // SAFETY: the types of this file have no such bytes.
    unsafe { core::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Whether calls are kept: not without a log.
pub fn keeps() -> bool {
    kept::keeps()
}

/// Keeps what a call gave. `errno` is as the call left it, and stays.
pub fn keep<'d>(
    thread: &'static Thread,
    call: Call,
    (file, socket): (c_int, u64),
    result: i64,
    parts: impl Iterator<Item = &'d [u8]> + Clone,
) {
    let error = sys::errno();
    thread.occupy();
    let number = CALLS.fetch_add(1, Relaxed) + 1;
    let head = [Head { number, socket, file, error: if result < 0 { error } else { 0 } }];
    kept::keep_parts(thread, key(call), result, bytes_of(&head), parts);
    thread.end();
    sys::set_errno(error);
}

/// What the recording has of the next such call of the thread, as long as the schedule is followed.
pub fn given(thread: &'static Thread, call: Call) -> Option<Given> {
    if !others::on_schedule() {
        return None;
    }
    thread.occupy();
    let entry = stored::entry(thread, key(call));
    thread.end();
    let (result, data) = entry?;
    let (head, data) = data.split_at_checked(size_of::<Head>())?;
    // SAFETY: so many bytes of the entry.
    Some(Given { head: unsafe { head.as_ptr().cast::<Head>().read_unaligned() }, result, data })
}

impl Given {
    /// The result of the call, with its error.
    pub fn result(&self) -> i64 {
        if self.result < 0 {
            sys::set_errno(self.head.error);
        }
        self.result
    }

    /// How a connection began, and the address.
    pub fn opening(&self) -> Option<(Opening, &'static [u8])> {
        let (opening, address) = self.data.split_at_checked(size_of::<Opening>())?;
        // SAFETY: so many bytes of the entry.
        Some((unsafe { opening.as_ptr().cast::<Opening>().read_unaligned() }, address))
    }

    /// The descriptors that were reported.
    pub fn ready(&self) -> impl Iterator<Item = Ready> + Clone + use<> {
        let (data, count) = (self.data, self.data.len() / size_of::<Ready>());
        // SAFETY: so many bytes of the entry.
        (0..count).map(move |index| unsafe { data.as_ptr().cast::<Ready>().add(index).read_unaligned() })
    }
}
