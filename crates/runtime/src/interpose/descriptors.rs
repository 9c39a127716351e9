//! What the kernel says of an open file.

use core::ffi::c_int;

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

/// Device and inode of a file.
pub fn identity(file: c_int) -> Option<(u64, u64)> {
    status(file).map(|status| (status.device, status.inode))
}

/// Of a regular file: a number that others do not have, and that is not 0.
pub fn regular_file(file: c_int) -> Option<u64> {
    let status = status(file).filter(|status| status.mode & KIND == FILE)?;
    Some((status.device.rotate_left(40) ^ status.inode).max(1))
}

impl Status {
    /// Which device it is.
    pub fn device_behind(&self) -> u64 {
        u64::from(self.rest[3]) | u64::from(self.rest[4]) << 32
    }
}
