//! What the kernel says of an open file.

use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::sys::call;

/// `struct stat` as far as it is looked at.
#[repr(C)]
pub struct Status {
    pub device: u64,
    pub inode: u64,
    links: u64,
    pub mode: u32,
    rest: [u32; 29],
}

/// The bits of a mode that are what kind of file it is: one of those below, or none.
pub const KIND: u32 = 0o170_000;
pub const PIPE: u32 = 0o010_000;
pub const SOCKET: u32 = 0o140_000;
pub const FILE: u32 = 0o100_000;
pub const DEVICE: u32 = 0o020_000;

/// What is behind a descriptor.
pub fn status(file: c_int) -> Option<Status> {
    let mut status = Status { device: 0, inode: 0, links: 0, mode: 0, rest: [0; 29] };
    (call!(FSTAT, file, &raw mut status) == 0).then_some(status)
}

/// What has this name in this folder; of a link what it leads to, if that is asked for.
pub fn status_of_name((folder, path): (c_int, *const c_char), behind_links: bool) -> Option<Status> {
    const NO_FOLLOW: c_int = 0x100;
    let mut status = Status { device: 0, inode: 0, links: 0, mode: 0, rest: [0; 29] };
    let flags = if behind_links { 0 } else { NO_FOLLOW };
    (call!(FSTATAT, folder, path, &raw mut status, flags) == 0).then_some(status)
}

/// Device and inode of a file.
pub fn identity(file: c_int) -> Option<(u64, u64)> {
    status(file).map(|status| (status.device, status.inode))
}

/// Of a regular file: a number that others do not have, and that is not 0.
pub fn regular_file(file: c_int) -> Option<u64> {
    let status = status(file).filter(|status| status.mode & KIND == FILE)?;
    Some((status.device.rotate_left(40) ^ status.inode).max(1))
}

/// Of the files to which the program's standard output and errors led at its start, the numbers of [`regular_file`]; 0 for a terminal or pipe.
/// What is written there leaves no record: else a replay that writes to a pipe would leave the schedule of a run that wrote to a file.
static OUTPUTS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Keeps where the output goes.
pub fn keep_outputs() {
    for (output, file) in OUTPUTS.iter().zip(1..) {
        output.store(regular_file(file).unwrap_or(0), Relaxed);
    }
}

/// Whether one of them is a file.
pub fn has_output_files() -> bool {
    OUTPUTS.iter().any(|output| output.load(Relaxed) != 0)
}

/// Whether this is one of them.
pub fn is_output(identity: u64) -> bool {
    OUTPUTS.iter().any(|output| output.load(Relaxed) == identity)
}

/// The pipes that the process was started with, by inode; 0 where there is none.
static INHERITED: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

/// The program starts: what is open now is not its own.
pub fn keep_inherited_pipes() {
    for (file, inherited) in INHERITED.iter().enumerate() {
        let pipe = status(file as c_int).filter(|status| status.mode & KIND == PIPE);
        inherited.store(pipe.map_or(0, |status| status.inode), Relaxed);
    }
}

impl Status {
    /// Of a pipe: whether the process was started with it.
    pub fn is_inherited_pipe(&self) -> bool {
        INHERITED.iter().any(|inode| inode.load(Relaxed) == self.inode)
    }

    /// When it, or a name of it, changed last, in seconds and nanoseconds.
    pub fn changed(&self) -> (i64, i64) {
        let word = |at: usize| i64::from(self.rest[at]) | i64::from(self.rest[at + 1]) << 32;
        (word(19), word(21))
    }

    /// Which device it is.
    pub fn device_behind(&self) -> u64 {
        u64::from(self.rest[3]) | u64::from(self.rest[4]) << 32
    }
}
