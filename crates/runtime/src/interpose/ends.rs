//! What is behind a descriptor of the program: a channel within it, another program, a file, or something else that others may wake.

use core::ffi::c_int;

use super::channel::HIGH;
use super::descriptors::{DEVICE, FILE, KIND, PIPE, SOCKET, Status, status};
use super::duplicates;
use super::socket_pair::is_terminal;
use crate::controller;
use crate::sys::call;
use crate::text::Text;
use crate::threads::Thread;

/// `/dev/random` and `/dev/urandom`.
const RANDOM: [u64; 2] = [1 << 8 | 8, 1 << 8 | 9];

/// What is behind a descriptor.
pub enum End {
    /// A channel of this key, and whether a read takes all that was written.
    Channel(usize, bool),
    Socket,
    /// A terminal, or a pipe that the program was started with: what comes is another program's.
    Input,
    /// A file with a position that its readers share, and the key of the order of their reads.
    File(usize),
    /// A device of random bytes.
    Random,
    /// What a timer wakes.
    Timer,
    /// What signals wake.
    Signals,
    /// Something else that others may wake.
    Unseen,
}

/// Where the bucket has the order of reads by this descriptor of a file, and by others of the same open file.
fn file_key(file: c_int, status: &Status) -> usize {
    HIGH | ((duplicates::first(file) as usize) << 36 ^ status.inode as usize) << 4 | 2
}

/// Where it has that of the reads from a socket.
pub fn socket_key(status: &Status) -> usize {
    HIGH | (status.inode as usize) << 4 | 4
}

/// What is behind a descriptor, if it leads to other threads or programs.
pub fn end(file: c_int) -> Option<End> {
    let status = status(file)?;
    match status.mode & KIND {
        PIPE if status.is_inherited_pipe() => Some(End::Input),
        PIPE => Some(End::Channel(HIGH | (status.inode as usize) << 4, false)),
        SOCKET => Some(End::Socket),
        FILE => Some(End::File(file_key(file, &status))),
        DEVICE if RANDOM.contains(&status.device_behind()) => Some(End::Random),
        DEVICE if is_terminal(file) => Some(End::Input),
        0 => of_no_file(file),
        _ => None,
    }
}

/// Event counters have no number of their own but that of the descriptor.
pub fn event_key(file: c_int) -> usize {
    HIGH | (file as usize) << 4 | 8
}

/// What is behind a descriptor that is no file's, by the name that the kernel gives it.
fn of_no_file(file: c_int) -> Option<End> {
    const OTHERS: [&[u8]; 6] = [b"[eventpoll]", b"inotify", b"[fanotify]", b"[userfaultfd]", b"[io_uring]", b"[pidfd]"];
    let path = Text::<64>::formatted(format_args!("/proc/self/fd/{file}\0"));
    let mut name = [0u8; 48];
    let length = call!(READLINK, path.bytes().as_ptr(), name.as_mut_ptr(), name.len());
    let name = name[..length.max(0) as usize].strip_prefix(b"anon_inode:")?;
    match name {
        b"[eventfd]" => Some(End::Channel(event_key(file), true)),
        b"[timerfd]" => Some(End::Timer),
        b"[signalfd]" => Some(End::Signals),
        _ if OTHERS.contains(&name) => Some(End::Unseen),
        _ => None,
    }
}

/// A replay chooses who reads next from a descriptor whose readers wait.
pub fn before_waiting(thread: &'static Thread, file: c_int) {
    if controller::replaying() && waits(file) {
        controller::before_taking(thread);
    }
}

/// Whether a read of this descriptor waits until there is something.
pub fn waits(file: c_int) -> bool {
    const GET_FLAGS: c_int = 3;
    const ONLY_WRITES: isize = 1;
    const NONBLOCK: isize = 0o4000;
    let flags = call!(FCNTL, file, GET_FLAGS);
    flags & NONBLOCK == 0 && flags & 3 != ONLY_WRITES
}
