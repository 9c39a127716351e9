//! A call of a function of the C library, and its accesses piece by piece.

use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::hooks::pieces::{copy_piece, load_piece, store_piece};
use crate::record::{Kind, piece};
use crate::threads::Thread;

/// Bytes of a wide character.
pub(super) const WIDE: u64 = 4;

/// Arguments as hooks get them.
pub(super) type Arguments = [u64; 5];

/// The same of functions that are noted.
pub(super) type Noted = [u64; 6];

/// A call of the program whose accesses are recorded.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) thread: &'static Thread,
    pub(super) site: u64,
}

impl Call {
    pub(super) fn read(self, address: u64, bytes: u64) -> u64 {
        self.thread.begin_access(Kind::load(bytes), self.site, address, bytes);
        let value = load_piece(self.thread, address, bytes, self.site);
        self.thread.end();
        value
    }

    pub(super) fn write(self, address: u64, value: u64, bytes: u64) {
        self.thread.begin_access(Kind::store(bytes), self.site, address, bytes);
        store_piece(self.thread, address, value, bytes, self.site);
        self.thread.end();
    }

    /// Reads bytes for the log alone.
    pub(super) fn read_all(self, address: u64, length: u64) {
        each_piece(address, length, |at, bytes| {
            self.read(at, bytes);
        });
    }

    /// Copies bytes to other ones.
    pub(super) fn copy(self, to: u64, from: u64, length: u64) {
        each_piece(to, length, |at, bytes| copy_piece(self.thread, at, from + (at - to), bytes, self.site));
    }
}

/// The pieces in which so many bytes are accessed: by their lengths alone, since the addresses of a program's arguments
/// differ from run to run.
pub(super) fn each_piece(address: u64, length: u64, mut visit: impl FnMut(u64, u64)) {
    let mut done = 0;
    while done < length {
        let bytes = piece(done, length - done);
        visit(address + done, bytes);
        done += bytes;
    }
}
