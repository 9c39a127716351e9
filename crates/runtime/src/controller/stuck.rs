//! Whether threads that sleep in the kernel can ever wake. A thread that waits without a timeout for event counters and pipes, which no other
//! process has, wakes by the program's own threads alone.

use core::ffi::c_int;
use core::sync::atomic::Ordering::Relaxed;

use crate::controller::thread_turn::State;
use crate::controller::waking;
use crate::interpose::descriptors::status;
use crate::interpose::poll::waits_in_poll;
use crate::interpose::socket_pair::is_between_own;
use crate::mode;
use crate::sys::{self, call, number};
use crate::text::{Text, number as decimal};
use crate::threads::{self, Thread};

/// Descriptors that are looked at for sockets, through which another process may have got an event counter or a pipe.
const DESCRIPTORS: c_int = 1024;

/// Whether each thread waits for another of them, and at least one of them in the kernel.
pub fn all_are() -> bool {
    let alive = || threads::all().filter(|thread| thread.turn.state.get() != State::Done);
    let waits = |thread: &Thread| match thread.turn.state.get() {
        State::Blocked => thread.turn.deadline.get().is_none(),
        State::Outside => awaited(thread).is_some(),
        State::Ready | State::Done => false,
    };
    let is_outside = |thread: &Thread| thread.turn.state.get() == State::Outside;
    let no_other = || !waking::by_others() && !alive().any(has_children) && !has_sockets();
    alive().any(is_outside) && alive().all(waits) && no_other()
}

/// Whether a thread sleeps in the kernel until another thread of the program does something: the time it is given is for other programs.
pub fn waits_for_program(thread: &Thread) -> bool {
    let sleeps = thread.turn.state.get() == State::Outside && awaited_of(thread, is_of_program).is_some();
    let mut alive = threads::all().filter(|other| other.turn.state.get() != State::Done);
    sleeps && !waking::by_others() && !alive.any(has_children)
}

/// Whether a thread does so, and no other one is about to do it: each that sleeps in the kernel or makes no record sleeps like this.
pub fn waits_in_vain(thread: &Thread) -> bool {
    let mut outside = threads::all().filter(|other| other.turn.state.get() == State::Outside);
    waits_for_program(thread) && outside.all(waits_for_program)
}

/// The event counter or pipe for which a thread waits without a timeout; of several one.
pub fn awaited(thread: &Thread) -> Option<c_int> {
    awaited_of(thread, is_channel)
}

/// One of the descriptors for which a thread waits without a timeout, where all are of a kind.
fn awaited_of(thread: &Thread, is_of_kind: fn(c_int) -> bool) -> Option<c_int> {
    let mut text = [0u8; 256];
    let path = Text::<64>::formatted(format_args!("/proc/self/task/{}/syscall\0", thread.tid.load(Relaxed)));
    let read = sys::contents(path.bytes(), &mut text)?;
    let mut words = read.split(|&byte| byte == b' ');
    let call = decimal(words.next()?)? as usize; // the word "running" is no number
    let mut argument = || words.next().and_then(hexadecimal);
    let [first, second, third, fourth] = [argument()?, argument()?, argument()?, argument()?];
    let for_ever = |timeout: u64| (timeout as c_int) < 0;
    let files = || {
        // SAFETY: the kernel has taken this array of the caller, which sleeps in the call.
        unsafe { waits_in_poll(first as usize, second as usize) }
    };
    match call {
        number::READ => is_of_kind(first as c_int).then_some(first as c_int),
        number::POLL if for_ever(third) => all_of(files(), is_of_kind),
        number::PPOLL if third == 0 => all_of(files(), is_of_kind),
        number::EPOLL_WAIT | number::EPOLL_PWAIT if for_ever(fourth) => watched_by(first as c_int, is_of_kind),
        _ => None,
    }
}

/// One of the descriptors, where all are of a kind or an `epoll` that watches such.
fn all_of(mut files: impl Iterator<Item = c_int>, is_of_kind: fn(c_int) -> bool) -> Option<c_int> {
    files.try_fold(None, |_, file| one_behind(file, is_of_kind).map(Some)).flatten()
}

/// The descriptor, or one that makes an `epoll` ready.
fn one_behind(file: c_int, is_of_kind: fn(c_int) -> bool) -> Option<c_int> {
    if link_of(file, |name| name == b"anon_inode:[eventpoll]") {
        return watched_by(file, is_of_kind);
    }
    is_of_kind(file).then_some(file)
}

/// One of the descriptors that an `epoll` watches, where all are of a kind.
fn watched_by(epoll: c_int, is_of_kind: fn(c_int) -> bool) -> Option<c_int> {
    let mut text = [0u8; 2048];
    let size = text.len();
    let read = sys::contents(Text::<64>::formatted(format_args!("/proc/self/fdinfo/{epoll}\0")).bytes(), &mut text)?;
    if read.len() == size {
        return None; // there may be more
    }
    let watched = read.split(|&byte| byte == b'\n').filter_map(|line| line.strip_prefix(b"tfd:"));
    all_of(watched.map(|line| first_number(line.trim_ascii_start()).unwrap_or(-1)), is_of_kind)
}

fn first_number(text: &[u8]) -> Option<c_int> {
    decimal(text.split(|byte| !byte.is_ascii_digit()).next()?).map(|number| number as c_int)
}

/// Whether it is an event counter, or a pipe that the program made and that no other process can have got.
fn is_channel(file: c_int) -> bool {
    link_of(file, |name| name == b"anon_inode:[eventfd]") || is_pipe(file) && is_own(file)
}

/// Whether a descriptor leads to threads of the program alone: a channel like these, or one of two sockets that it connected with each other.
fn is_of_program(file: c_int) -> bool {
    is_channel(file) || is_between_own(file)
}

/// Whether a descriptor is a pipe without a name.
pub fn is_pipe(file: c_int) -> bool {
    link_of(file, |name| name.starts_with(b"pipe:["))
}

/// Of a pipe: whether no other process can have got it. A program that starts others often gives them a pipe, and their own children may keep it.
fn is_own(pipe: c_int) -> bool {
    let is_inherited = || status(pipe).is_none_or(|status| status.is_inherited_pipe());
    !mode::STARTED_PROCESSES.load(Relaxed) && !is_inherited()
}

/// Asks of what is behind a descriptor, by the name that the kernel gives it; no where nothing is.
fn link_of(file: c_int, ask: impl Fn(&[u8]) -> bool) -> bool {
    let path = Text::<64>::formatted(format_args!("/proc/self/fd/{file}\0"));
    let mut name = [0u8; 64];
    let length = call!(READLINK, path.bytes().as_ptr(), name.as_mut_ptr(), name.len());
    length > 0 && ask(&name[..length as usize])
}

/// Whether a child may have an event counter or pipe of ours; also where the kernel does not say.
fn has_children(thread: &Thread) -> bool {
    let path = Text::<64>::formatted(format_args!("/proc/self/task/{}/children\0", thread.tid.load(Relaxed)));
    sys::contents(path.bytes(), &mut [0u8; 16]).is_none_or(|text| !text.is_empty())
}

fn has_sockets() -> bool {
    (0..DESCRIPTORS).any(|file| link_of(file, |name| name.starts_with(b"socket:")))
}

/// A number as `0x1f`.
fn hexadecimal(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").filter(|digits| !digits.is_empty())?;
    digits.iter().try_fold(0u64, |number, &digit| {
        let digit = (digit as char).to_digit(16)?;
        number.checked_mul(16)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::pipe;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::{UnixListener, UnixStream};

    #[test]
    fn pairs_and_pipes_lead_to_the_program_alone_but_not_what_others_can_connect_to() {
        let (reads, writes) = pipe().expect("a pipe");
        let (one, other) = UnixStream::pair().expect("a pair");
        for own in [reads.as_raw_fd(), writes.as_raw_fd(), one.as_raw_fd(), other.as_raw_fd()] {
            assert!(is_of_program(own));
        }
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let connection = TcpStream::connect(listener.local_addr().expect("bound")).expect("connected");
        let folder = std::env::temp_dir().join(std::format!("foretrace-stuck-{}", std::process::id()));
        let local = UnixListener::bind(&folder).expect("a name");
        std::fs::remove_file(&folder).expect("it is there");
        let file = std::fs::File::open("/dev/null").expect("it is always there");
        for others in [listener.as_raw_fd(), connection.as_raw_fd(), local.as_raw_fd(), file.as_raw_fd(), -1] {
            assert!(!is_of_program(others));
        }
    }
}
