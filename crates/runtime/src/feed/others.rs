//! Plays the programs at the other end of a replay's sockets. No client has to be there.
//!
//! The harness gives a file of their deeds in the recording: connections that began, bytes that they sent, ends. While the schedule is
//! followed, a thread gets its bytes from the recording (`sockets.rs`), and a connection is one of the program to itself, by which nothing
//! comes. When the schedule is over or left, the remaining bytes come by these connections, in the recorded order, and by new connections
//! to where the program listens.

use core::ffi::{CStr, c_int};
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use super::key::note;
use super::stored;
use crate::controller;
use crate::interpose::socket_pair::{self, connect_to};
use crate::lock::Lock;
use crate::outside::{ACCEPTED, CONNECTED, Deed, ENDED, Head, INHERITED, SENT, WORDS_BEFORE_DEEDS as HEAD};
use crate::sys::{self, PAGE, call};
use crate::text::Text;
use crate::threads::Thread;

/// A connection of a replay. Zeroes before it began.
struct Connection {
    /// The inode that the program's end had in the recording, and the one that it has.
    recorded: AtomicU64,
    socket: AtomicU64,
    /// Its descriptor.
    file: AtomicI32,
    /// Our end plus one.
    end: AtomicI32,
}

static NOTED: AtomicBool = AtomicBool::new(false);
static PLAYING: AtomicBool = AtomicBool::new(false);
static DEEDS: AtomicPtr<Deed> = AtomicPtr::new(core::ptr::null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);
static DONE: AtomicPtr<AtomicU8> = AtomicPtr::new(core::ptr::null_mut());
static CONNECTIONS: AtomicPtr<Connection> = AtomicPtr::new(core::ptr::null_mut());
static CONNECTION_COUNT: AtomicUsize = AtomicUsize::new(0);
/// All deeds before this one are done.
static NEXT: AtomicUsize = AtomicUsize::new(0);
/// How many bytes of that one were sent.
static PART: AtomicUsize = AtomicUsize::new(0);
/// Held while a thread does a deed.
static LOCK: Lock = Lock::new();

/// Plays by this file, if it can be read.
pub fn prepare(path: &[u8]) {
    let mut name = Text::<4200>::new();
    name.push(path);
    name.push(b"\0");
    let Ok(file) = sys::open(name.bytes(), sys::READ_ONLY) else { return };
    let bytes = sys::size(file).unwrap_or(0);
    let memory = if bytes < HEAD * 8 { None } else { sys::map_private(file, bytes) };
    sys::close(file);
    let Some(memory) = memory else { return };
    // SAFETY: the mapping has these words.
    let [count, connections] = unsafe { memory.cast::<[u64; HEAD]>().read() }.map(|word| word as usize);
    let (Some(done), Some(table)) =
        (sys::map(count.max(PAGE)), sys::map((connections * size_of::<Connection>()).max(PAGE)))
    else {
        return;
    };
    DEEDS.store(memory.wrapping_add(HEAD * 8).cast(), Relaxed);
    DONE.store(done.cast(), Relaxed);
    CONNECTIONS.store(table.cast(), Relaxed);
    COUNT.store(count, Relaxed);
    CONNECTION_COUNT.store(connections, Relaxed);
    PLAYING.store(true, Release);
    take_over();
}

/// What was there when the program started: a pipe of ours takes the place of a pipe. A terminal stays.
fn take_over() {
    let is_there = |(_, deed): &(usize, &Deed)| deed.kind == INHERITED;
    for (index, deed) in deeds().iter().enumerate().take_while(is_there) {
        let file = deed.at as c_int;
        let connection = &connections()[deed.connection as usize];
        let end = if socket_pair::is_terminal(file) { None } else { socket_pair::input(file) };
        connection.end.store(end.map_or(0, |end| end + 1), Relaxed);
        connection.recorded.store(deed.bytes, Relaxed);
        connection.file.store(file, Relaxed);
        connection.socket.store(socket_pair::inode(file), Relaxed);
        done(index).store(1, Relaxed);
    }
}

/// Whether other programs are played.
pub fn playing() -> bool {
    PLAYING.load(Acquire)
}

/// Whether threads get what the recording has.
pub fn on_schedule() -> bool {
    playing() && controller::following()
}

fn deeds() -> &'static [Deed] {
    // SAFETY: the file's mapping, which stays.
    unsafe { core::slice::from_raw_parts(DEEDS.load(Relaxed), COUNT.load(Relaxed)) }
}

fn done(index: usize) -> &'static AtomicU8 {
    // SAFETY: zeroed memory with a byte for each deed.
    unsafe { &*DONE.load(Relaxed).add(index) }
}

fn connections() -> &'static [Connection] {
    // SAFETY: zeroed memory with room for so many.
    unsafe { core::slice::from_raw_parts(CONNECTIONS.load(Relaxed), CONNECTION_COUNT.load(Relaxed)) }
}

/// The deed of this call of the recording, if another program did it.
fn deed(number: u64) -> Option<(usize, &'static Deed)> {
    let index = deeds().binary_search_by_key(&number, |deed| deed.number).ok()?;
    Some((index, &deeds()[index]))
}

/// Whether this socket leads to a program that is played.
pub fn plays(socket: u64) -> bool {
    playing() && connections().iter().any(|connection| connection.socket.load(Relaxed) == socket)
}

/// The descriptor of the socket that had this inode in the recording.
pub fn descriptor(recorded: u64) -> Option<c_int> {
    let is_it = |connection: &&Connection| recorded != 0 && connection.recorded.load(Relaxed) == recorded;
    connections().iter().find(is_it).map(|connection| connection.file.load(Relaxed))
}

/// The call of this number got its part.
pub fn is_given(number: u64) {
    if let Some((index, _)) = deed(number) {
        done(index).store(1, Relaxed);
    }
}

/// The connection that another program made in this call, now one to ourselves: the program's descriptor. Nothing if the program made it itself,
/// or if there is none.
pub fn accept(head: &Head, listening: c_int, flags: c_int) -> Option<c_int> {
    let (index, deed) = deed(head.number).filter(|(_, deed)| deed.kind == ACCEPTED)?;
    LOCK.lock();
    let pair = socket_pair::accepted(listening, flags).map(|(ours, theirs)| (ours, socket_pair::at(head.file, theirs)));
    if let Some((ours, theirs)) = pair {
        begin(deed, head, theirs, ours);
        done(index).store(1, Relaxed);
    }
    LOCK.unlock();
    pair.map(|(_, theirs)| theirs)
}

/// The program connected this socket to another program in this call: it is connected to ourselves. Whether it was.
pub fn connect(head: &Head, file: c_int) -> bool {
    let Some((index, deed)) = deed(head.number).filter(|(_, deed)| deed.kind == CONNECTED) else { return false };
    LOCK.lock();
    let ours = socket_pair::connected(file);
    if let Some(ours) = ours {
        begin(deed, head, file, ours);
        done(index).store(1, Relaxed);
    }
    LOCK.unlock();
    ours.is_some()
}

fn begin(deed: &Deed, head: &Head, theirs: c_int, ours: c_int) {
    let connection = &connections()[deed.connection as usize];
    connection.recorded.store(head.socket, Relaxed);
    connection.file.store(theirs, Relaxed);
    connection.socket.store(socket_pair::inode(theirs), Relaxed);
    connection.end.store(ours + 1, Relaxed);
}

/// Whether a replay has still to say that it does not give again what streams read.
pub fn notes_streams() -> bool {
    stored::fed() && controller::following() && !NOTED.load(Relaxed)
}

/// A stream of `stdio` reads what another program writes.
pub fn note_stream(thread: &Thread, name: &CStr) {
    if !NOTED.swap(true, Relaxed) {
        let name = name.to_str().unwrap_or("a stream");
        note(
            thread,
            format_args!(
                "{name} reads a pipe or terminal by a stream, whose input is not kept: give the replay the same input"
            ),
        );
    }
}

/// Does what is still to come from other programs, some at each call, once the schedule is no longer followed. Takes what they are sent.
pub fn go_on() {
    /// Calls until all is done, about.
    const CALLS: usize = 200;
    if !playing() || controller::following() {
        return;
    }
    LOCK.lock();
    for _ in 0..COUNT.load(Relaxed) / CALLS + 1 {
        let mut next = NEXT.load(Relaxed);
        while next < COUNT.load(Relaxed) && done(next).load(Relaxed) != 0 {
            next += 1;
        }
        NEXT.store(next, Relaxed);
        let Some(deed) = deeds().get(next) else { break };
        if !perform(deed) {
            break; // later
        }
        done(next).store(1, Relaxed);
    }
    for connection in connections() {
        let end = connection.end.load(Relaxed) - 1;
        while end >= 0 && socket_pair::discard(end) {}
    }
    LOCK.unlock();
}

/// Whether it is done: there may be no room for bytes yet.
fn perform(deed: &Deed) -> bool {
    const WRITES: usize = 1;
    let Some(connection) = connections().get(deed.connection as usize) else { return true };
    let end = connection.end.load(Relaxed) - 1;
    match deed.kind {
        ACCEPTED => {
            connection.end.store(connect_to(deed.at as c_int).map_or(0, |end| end + 1), Relaxed);
            true
        }
        SENT if end >= 0 => {
            let from = DEEDS.load(Relaxed).cast::<u8>().wrapping_sub(HEAD * 8).wrapping_add(deed.at as usize);
            let before = PART.load(Relaxed);
            match socket_pair::send(end, from.wrapping_add(before), deed.bytes as usize - before) {
                Some(sent) if before + sent < deed.bytes as usize => {
                    PART.store(before + sent, Relaxed);
                    false
                }
                _ => {
                    PART.store(0, Relaxed);
                    true
                }
            }
        }
        ENDED if end >= 0 => {
            // Nobody answers by a pipe.
            if call!(SHUTDOWN, end, WRITES) == socket_pair::NO_SOCKET {
                sys::close(end);
                connection.end.store(0, Relaxed);
            }
            true
        }
        // A connection that the program would make to another one is its own affair from here.
        _ => true,
    }
}
