//! Sockets: input from other programs may depend on all that was sent to them before, so it comes after that.
//!
//! Sending is recorded as arriving at a barrier, each time in a new round. Receiving is recorded as leaving the barrier's rounds up to
//! one of them: the last so far, or an earlier one if the bytes that are read were there before something was sent, since then they
//! do not depend on that. At each send, the runtime looks up how many bytes wait in a bounded number of sockets.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};

use super::binds::is_local;
use super::channel::{self, Message, OfFile};
use super::channel_reads::Reading;
use super::ends::{End, before_waiting, end};
use super::poll::{Poll, READABLE};
use super::sockets::{self, Parts};
use super::unseen::{LISTENING, What, has_threads};
use super::unseen_calls;
use super::{files, interpose, real, socket_turns, tracked};
use crate::feed::sockets::Call;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::lock::Lock;
use crate::log;
use crate::record::object::{ADDS, LOOKS};
use crate::record::{Kind, OUTSIDE};
use crate::sys::{self, call};
use crate::threads::Thread;

/// How many sockets are watched; of others nothing is known.
const WATCHED: usize = 64;

/// A socket that is watched.
struct Socket {
    /// Its descriptor plus one, 0 for none.
    file: AtomicI32,
    /// The first number that was sent while `bytes` waited to be read; 0 if none did.
    since: AtomicU64,
    /// How many are sure to have waited then; of a socket that listens one connection.
    bytes: AtomicU64,
}

/// Held while a thread looks at what follows.
static LOCK: Lock = Lock::new();
static SENT: AtomicU64 = AtomicU64::new(0);
static SOCKETS: [Socket; WATCHED] =
    [const { Socket { file: AtomicI32::new(0), since: AtomicU64::new(0), bytes: AtomicU64::new(0) } }; WATCHED];

const POLLNVAL: i16 = 32;
const FIONREAD: usize = 0x541B;

impl Socket {
    fn of_file(file: c_int) -> Option<&'static Socket> {
        SOCKETS.iter().find(|socket| socket.file.load(Relaxed) == file + 1)
    }

    fn forget(&self) {
        self.since.store(0, Relaxed);
        self.bytes.store(0, Relaxed);
    }

    /// The number that is sent next finds so many bytes to be read.
    fn see(&self, waiting: Option<u64>, number: u64) {
        match waiting {
            None => self.forget(),
            // Some that were seen before are gone, so nobody knows since when the others are there.
            Some(bytes) if self.since.load(Relaxed) == 0 || bytes < self.bytes.load(Relaxed) => {
                self.since.store(number, Relaxed);
                self.bytes.store(bytes, Relaxed);
            }
            Some(_) => {}
        }
    }

    /// So many bytes were read: the last number that they may depend on.
    fn take(&self, bytes: u64) -> Option<u64> {
        let left = self.bytes.load(Relaxed).checked_sub(bytes.max(1));
        let since = self.since.load(Relaxed);
        match left {
            Some(left) if since > 0 => {
                self.bytes.store(left, Relaxed);
                Some(since - 1)
            }
            _ => {
                self.forget();
                None
            }
        }
    }
}

/// What waits on a socket that can be read from: bytes, or one connection.
fn waiting(file: c_int) -> u64 {
    let mut bytes: c_int = 0;
    match call!(IOCTL, file, FIONREAD, &raw mut bytes) {
        0 => bytes.max(0) as u64,
        _ => 1,
    }
}

/// Looks what waits before this number is sent.
fn look(number: u64) {
    let mut polls = [Poll::new(-1, READABLE); WATCHED];
    for (poll, socket) in polls.iter_mut().zip(&SOCKETS) {
        poll.file = socket.file.load(Relaxed) - 1;
    }
    if call!(POLL, polls.as_mut_ptr(), WATCHED, 0) < 0 {
        return SOCKETS.iter().for_each(Socket::forget);
    }
    for (poll, socket) in polls.iter().zip(&SOCKETS).filter(|(poll, _)| poll.file >= 0) {
        socket.see((poll.found & READABLE != 0).then(|| waiting(poll.file)), number);
        if poll.found & POLLNVAL != 0 {
            socket.file.store(0, Relaxed); // closed in a way that nobody saw
        }
    }
}

/// Something is about to be sent.
pub fn before_sending(thread: &'static Thread, place: usize) {
    before_sending_to(None, thread, place);
}

/// The same where the socket of this key gets it.
fn before_sending_to(key: Option<usize>, thread: &'static Thread, place: usize) {
    thread.begin();
    LOCK.lock();
    let number = SENT.load(Relaxed) + 1;
    SENT.store(number, Relaxed);
    look(number);
    let record = || {
        log::sync(thread, Kind::Arrive, place, OUTSIDE, number);
    };
    match key {
        Some(key) => channel::write_in_turn(thread, key, place, record),
        None => record(),
    }
    LOCK.unlock();
    thread.end();
}

/// A socket is there, or about to be read from.
pub fn watch(thread: &'static Thread, file: c_int) {
    thread.occupy();
    LOCK.lock();
    if Socket::of_file(file).is_none()
        && let Some(free) = SOCKETS.iter().find(|socket| socket.file.load(Relaxed) == 0)
    {
        free.forget();
        free.file.store(file + 1, Relaxed);
    }
    LOCK.unlock();
    thread.end();
}

/// So many bytes were read of those that were asked for, or one connection accepted; 0 for the end of what the other side sends.
fn after_receiving(thread: &'static Thread, file: c_int, bytes: (u64, u64), place: usize) {
    thread.begin();
    record_received(thread, file, bytes, place);
}

/// The record of that, and the end of the hook.
fn record_received(thread: &'static Thread, file: c_int, (bytes, asked): (u64, u64), place: usize) {
    let error = sys::errno();
    LOCK.lock();
    let number = Socket::of_file(file).and_then(|socket| socket.take(bytes)).unwrap_or(SENT.load(Relaxed));
    log::sync(thread, Kind::Depart, place, OUTSIDE, number);
    LOCK.unlock();
    thread.end();
    socket_turns::received(thread, file, (bytes, asked), place);
    sys::set_errno(error);
}

/// A socket can be read from: bytes or a connection, which stay there. The thread is inside of a hook.
pub fn ready(thread: &'static Thread, file: c_int, place: usize) {
    LOCK.lock();
    let since = Socket::of_file(file).map_or(0, |socket| socket.since.load(Relaxed));
    let number = since.checked_sub(1).unwrap_or(SENT.load(Relaxed));
    log::sync(thread, Kind::Depart, place, OUTSIDE, number);
    LOCK.unlock();
}

/// A descriptor is closed: it may be another file's next.
pub fn leave(thread: &'static Thread, file: c_int) {
    thread.occupy();
    LOCK.lock();
    if let Some(socket) = Socket::of_file(file) {
        socket.forget();
        socket.file.store(0, Relaxed);
    }
    LOCK.unlock();
    thread.end();
}

pub fn is_socket(file: c_int) -> bool {
    matches!(end(file), Some(End::Socket))
}

/// Sends at most so many bytes by what may be a socket.
fn sending((file, bytes): (c_int, u64), place: usize, send: impl FnOnce() -> isize) -> isize {
    let Some(thread) = tracked().filter(|_| is_socket(file)) else { return send() };
    send_by(thread, (file, bytes), place, send)
}

/// Sends at most so many bytes by a socket.
pub fn send_by(
    thread: &'static Thread,
    (file, bytes): (c_int, u64),
    place: usize,
    send: impl FnOnce() -> isize,
) -> isize {
    let record = |key| before_sending_to(key, thread, place);
    socket_turns::send(thread, (file, bytes), record, || sockets::send(thread, file, send))
}

/// Reads from what may be a socket into these parts.
fn receiving(file: c_int, (to, flags): (Parts, c_int), place: usize, read: impl FnOnce() -> isize) -> isize {
    let Some(thread) = tracked().filter(|_| is_socket(file)) else { return read() };
    receive(thread, file, (to, flags), place, read)
}

/// Reads from a socket into these parts.
pub fn receive(
    thread: &'static Thread,
    file: c_int,
    (to, flags): (Parts, c_int),
    place: usize,
    read: impl FnOnce() -> isize,
) -> isize {
    watch(thread, file);
    before_waiting(thread, file);
    socket_turns::waiting(thread, (file, flags), read, |read| {
        let receive = || sockets::receive(thread, file, to, by_flags(flags), read);
        receive_and_record(thread, (file, flags), bytes_of(to), place, receive)
    })
}

/// Reads at most `asked` bytes from a socket, and records the read.
fn receive_and_record(
    thread: &'static Thread,
    (file, flags): (c_int, c_int),
    asked: u64,
    place: usize,
    read: impl FnOnce() -> isize,
) -> isize {
    let found_nothing = || {
        if sys::errno() == sys::EAGAIN {
            socket_turns::found_nothing(thread, file, place);
            sys::set_errno(sys::EAGAIN);
        }
    };
    if socket_turns::begins_in_turn(thread, (file, flags)) {
        let bytes = read();
        thread.occupy();
        if bytes >= 0 {
            record_received(thread, file, (bytes as u64, asked), place);
        } else {
            thread.end();
            found_nothing();
        }
        return bytes;
    }
    socket_turns::receive(thread, (file, flags), || {
        let bytes = read();
        if bytes >= 0 {
            after_receiving(thread, file, (bytes as u64, asked), place);
        } else {
            found_nothing();
        }
        bytes
    })
}

fn by_flags(flags: c_int) -> Call {
    const PEEK: c_int = 2;
    if flags & PEEK != 0 { Call::Peek } else { Call::Receive }
}

/// Takes a connection, with the flags of `accept4`.
///
/// # Safety
/// The program's memory for the address, or null pointers.
unsafe fn accepting(
    (file, flags): (c_int, c_int),
    to: (*mut c_void, *mut u32),
    place: usize,
    accept: impl FnOnce() -> c_int,
) -> c_int {
    let Some(thread) = tracked() else { return accept() };
    watch(thread, file);
    before_waiting(thread, file);
    let accept = || accept() as isize;
    socket_turns::waiting(thread, (file, 0), accept, |accept| {
        socket_turns::receive(thread, (file, 0), || {
            // SAFETY: the caller's promise.
            let accepted = unsafe { sockets::accept(thread, (file, flags), to, || accept() as c_int) };
            if accepted >= 0 {
                after_receiving(thread, file, (1, 1), place);
                watch(thread, accepted);
            }
            accepted as isize
        })
    }) as c_int
}

extern "C" fn socket_(family: c_int, kind: c_int, protocol: c_int, _: usize) -> c_int {
    let file = real::socket(family, kind, protocol);
    if let Some(thread) = tracked().filter(|_| file >= 0) {
        watch(thread, file);
    }
    file
}

extern "C" fn socketpair_(family: c_int, kind: c_int, protocol: c_int, pair: *mut [c_int; 2], _: usize) -> c_int {
    let result = real::socketpair(family, kind, protocol, pair);
    if let Some(thread) = tracked().filter(|_| result == 0) {
        // SAFETY: the program's two descriptors, just made.
        let pair = unsafe { *pair };
        pair.into_iter().for_each(|file| watch(thread, file));
        socket_turns::pair_made(thread, pair, kind);
    }
    result
}

pub(super) extern "C" fn send_(file: c_int, from: *const c_void, bytes: usize, flags: c_int, place: usize) -> isize {
    sending((file, bytes as u64), place, || real::send(file, from, bytes, flags))
}

#[rustfmt::skip]
extern "C" fn sendto_(file: c_int, from: *const c_void, bytes: usize, flags: c_int, to: *const c_void, length: u32) -> isize {
    let is_named = !to.is_null();
    let send = || real::sendto(file, from, bytes, flags, to, length);
    sending((file, bytes as u64), 0, || finding(c"sendto", file, is_named, 0, send))
}

pub extern "C" fn send_message(file: c_int, message: *const c_void, flags: c_int, place: usize) -> isize {
    // SAFETY: the program's message, which begins with the address to send to.
    let is_named = !message.is_null() && unsafe { !message.cast::<*const c_void>().read().is_null() };
    // SAFETY: the program's message.
    let bytes = if message.is_null() { 0 } else { bytes_of(unsafe { sockets::parts_of_message(message) }) };
    let send = || real::sendmsg(file, message, flags);
    sending((file, bytes), place, || finding(c"sendmsg", file, is_named, place, send))
}

/// Sends to an address, of which the result may say whether another thread has bound it.
fn finding(name: &'static CStr, file: c_int, is_named: bool, place: usize, send: impl FnOnce() -> isize) -> isize {
    match is_named && has_threads() && is_local(file) {
        true => unseen_calls::around(What { does: LOOKS, ..What::named(name, LISTENING) }, place, send),
        false => send(),
    }
}

pub(super) extern "C" fn writev_(file: c_int, parts: *const c_void, count: c_int, place: usize) -> isize {
    let write = || real::writev(file, parts, count);
    match tracked().and_then(|thread| Some((thread, end(file)?))) {
        Some((thread, End::Channel(key, _))) => {
            // SAFETY: the program gives an array of that length.
            let bytes = unsafe { length_of(parts.cast(), count) };
            let posts = channel::post(thread, key, Message::of_length(bytes), place);
            let written = write();
            if written <= 0 {
                channel::take_back(thread, key, posts, place);
            }
            written
        }
        Some((thread, End::Socket)) => {
            // SAFETY: the program gives an array of that length.
            let bytes = unsafe { length_of(parts.cast(), count) };
            send_by(thread, (file, bytes), place, write)
        }
        Some((_, End::File(_))) => files::accessing(c"writev", ADDS, file, place, write),
        _ => write(),
    }
}

/// The bytes of so many parts (`struct iovec`).
unsafe fn length_of(parts: *const [usize; 2], count: c_int) -> u64 {
    // SAFETY: the caller's promise.
    bytes_of(unsafe { sockets::parts_at(parts.cast(), count.max(0) as usize) })
}

fn bytes_of(parts: Parts) -> u64 {
    parts.iter().map(|[_, bytes]| *bytes as u64).sum()
}

extern "C" fn sendfile_(file: c_int, from: c_int, offset: *mut i64, bytes: usize, place: usize) -> isize {
    sending((file, bytes as u64), place, || real::sendfile(file, from, offset, bytes))
}

pub(super) extern "C" fn connect_(file: c_int, to: *const c_void, length: u32, place: usize) -> c_int {
    let connect = || real::connect(file, to, length);
    let Some(thread) = tracked().filter(|_| is_socket(file)) else { return connect() };
    before_sending(thread, place);
    let connect = || sockets::connect(thread, file, connect);
    match has_threads() {
        // It says whether another thread has called `listen` before.
        true => unseen_calls::around(What { does: LOOKS, ..What::named(c"connect", LISTENING) }, place, connect),
        false => connect(),
    }
}

extern "C" fn shutdown_(file: c_int, how: c_int, place: usize) -> c_int {
    if let Some(thread) = tracked().filter(|_| is_socket(file)) {
        before_sending(thread, place);
    }
    real::shutdown(file, how)
}

pub extern "C" fn recv_(file: c_int, to: *mut c_void, bytes: usize, flags: c_int, place: usize) -> isize {
    let part = [[to as usize, bytes]];
    receiving(file, (&part, flags), place, || real::recv(file, to, bytes, flags))
}

#[rustfmt::skip]
pub extern "C" fn recvfrom_(file: c_int, to: *mut c_void, bytes: usize, flags: c_int, from: *mut c_void, length: *mut u32) -> isize {
    let part = [[to as usize, bytes]];
    receiving(file, (&part, flags), 0, || real::recvfrom(file, to, bytes, flags, from, length))
}

pub unsafe extern "C" fn receive_message(file: c_int, message: *mut c_void, flags: c_int, place: usize) -> isize {
    // SAFETY: the program's message.
    let parts = unsafe { sockets::parts_of_message(message) };
    receiving(file, (parts, flags), place, || real::recvmsg(file, message, flags))
}

pub(super) extern "C" fn readv_(file: c_int, parts: *const c_void, count: c_int, place: usize) -> isize {
    // SAFETY: the program gives an array of that length.
    let to = unsafe { sockets::parts_at(parts, count.max(0) as usize) };
    match tracked().and_then(|thread| Some((thread, end(file)?))) {
        Some((thread, End::File(key))) => {
            let read = || OfFile { thread, key, place }.in_turn(|| real::readv(file, parts, count));
            files::accessing(c"readv", LOOKS, file, place, read)
        }
        Some((thread, End::Channel(key, all))) => Reading { thread, file, parts: to, key, all, place }.read(),
        _ => {
            let receive = || receiving(file, (to, 0), place, || real::readv(file, parts, count));
            files::accessing(c"readv", LOOKS, file, place, receive)
        }
    }
}

pub(super) unsafe extern "C" fn accept_(file: c_int, from: *mut c_void, length: *mut u32, place: usize) -> c_int {
    // SAFETY: the program's memory.
    unsafe { accepting((file, 0), (from, length), place, || real::accept(file, from, length)) }
}

pub(super) unsafe extern "C" fn accept4_(
    file: c_int,
    from: *mut c_void,
    length: *mut u32,
    flags: c_int,
    place: usize,
) -> c_int {
    // SAFETY: the program's memory.
    unsafe { accepting((file, flags), (from, length), place, || real::accept4(file, from, length, flags)) }
}

interpose! {
    socket "rcx" => socket_;
    socketpair "r8" => socketpair_;
    send "r8" => send_;
    sendto "r11" => sendto_; // no register is left for the place
    sendmsg "rcx" => send_message;
    writev "rcx" => writev_;
    sendfile "r8" => sendfile_;
    sendfile64 "r8" => sendfile_;
    connect "rcx" => connect_;
    shutdown "rdx" => shutdown_;
    recv "r8" => recv_;
    recvfrom "r11" => recvfrom_;
    recvmsg "rcx" => receive_message;
    readv "rcx" => readv_;
    accept "rcx" => accept_;
    accept4 "r8" => accept4_;
}
