//! Calls on sockets, made or given: what each gives is kept, and a replay gives it again where another program was at the other end (`feed`).

use core::cell::Cell;
use core::ffi::{c_int, c_void};

use super::socket_pair::{self, Address, inode};
use crate::feed::others;
use crate::feed::sockets::{Call, Given, Opening, Ready, bytes_of, given, keep, keeps};
use crate::sys;
use crate::threads::Thread;

/// Where the bytes of a call go: `struct iovec` each.
pub type Parts<'p> = &'p [[usize; 2]];

/// The parts that a call by `readv` or `recvmsg` names.
///
/// # Safety
/// The program's array of so many, or fewer than one.
pub unsafe fn parts_at<'p>(parts: *const c_void, count: usize) -> Parts<'p> {
    if parts.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { core::slice::from_raw_parts(parts.cast(), count) }
}

/// The parts of a `struct msghdr`.
///
/// # Safety
/// The program's message.
pub unsafe fn parts_of_message<'p>(message: *const c_void) -> Parts<'p> {
    // SAFETY: the caller's promise; name and its length come first.
    let [.., parts, count] = unsafe { message.cast::<[usize; 4]>().read() };
    // SAFETY: as above.
    unsafe { parts_at(parts as *const c_void, count) }
}

fn is_looked_at() -> bool {
    others::playing() || keeps()
}

/// Reads into these parts by `read`; the call is one of those that give bytes.
pub fn receive(thread: &'static Thread, file: c_int, to: Parts, call: Call, read: impl FnOnce() -> isize) -> isize {
    if !is_looked_at() {
        return read();
    }
    let socket = inode(file);
    let result = match given(thread, call).filter(|_| others::plays(socket)) {
        Some(given) => {
            if call != Call::Peek {
                others::is_given(given.head.number);
            }
            match given.result() {
                ..0 => -1,
                _ => scatter(given.data, to) as isize,
            }
        }
        None => read(),
    };
    let bytes = to.iter().scan(result.max(0) as usize, |left, [start, room]| {
        let here = (*room).min(*left);
        *left -= here;
        // SAFETY: what the call has written.
        Some(unsafe { core::slice::from_raw_parts(*start as *const u8, here) })
    });
    keep(thread, call, (file, socket), result as i64, bytes.filter(|part| !part.is_empty()));
    result
}

/// Puts bytes into the parts, as far as there is room: how many.
fn scatter(mut data: &[u8], to: Parts) -> usize {
    let all = data.len();
    for &[start, room] in to {
        let (here, rest) = data.split_at(room.min(data.len()));
        // SAFETY: the program's memory with this room.
        unsafe { sys::memmove(start as *mut c_void, here.as_ptr().cast(), here.len()) };
        data = rest;
    }
    all - data.len()
}

/// Sends by a socket, by `send`.
pub fn send(thread: &'static Thread, file: c_int, send: impl FnOnce() -> isize) -> isize {
    if !is_looked_at() {
        return send();
    }
    let result = match given(thread, Call::Send).filter(|_| others::plays(inode(file))) {
        Some(given) => given.result() as isize,
        None => send(),
    };
    keep(thread, Call::Send, (file, 0), result as i64, [].into_iter());
    result
}

/// Takes a connection from a socket that listens, by `accept`.
///
/// # Safety
/// The program's memory for the address and its length, or null pointers.
pub unsafe fn accept(
    thread: &'static Thread,
    (listening, flags): (c_int, c_int),
    (to, length): (*mut c_void, *mut u32),
    accept: impl FnOnce() -> c_int,
) -> c_int {
    if !is_looked_at() {
        return accept();
    }
    let ours = given(thread, Call::Accept).and_then(|given| match given.result() {
        ..0 => Some(-1),
        _ => {
            let file = others::accept(&given.head, listening, flags)?;
            let (_, address) = given.opening()?;
            if !to.is_null() && !length.is_null() {
                // SAFETY: the caller's promise.
                unsafe {
                    scatter(address, &[[to as usize, *length as usize]]);
                    *length = address.len() as u32;
                }
            }
            Some(file)
        }
    });
    let file = ours.unwrap_or_else(accept);
    let address = (file >= 0).then(|| Address::peer(file)).flatten();
    begun(thread, Call::Accept, listening, file, i64::from(file), address);
    file
}

/// Connects a socket, by `connect`.
pub fn connect(thread: &'static Thread, file: c_int, connect: impl FnOnce() -> c_int) -> c_int {
    if !is_looked_at() {
        return connect();
    }
    let ours = given(thread, Call::Connect).filter(|given| others::connect(&given.head, file));
    let result = ours.map_or_else(connect, |given| given.result() as c_int);
    let error = sys::errno();
    let address = Address::own(file);
    sys::set_errno(error);
    begun(thread, Call::Connect, file, file, i64::from(result), address);
    result
}

fn begun(thread: &'static Thread, call: Call, by: c_int, file: c_int, result: i64, address: Option<Address>) {
    let own = file >= 0 && socket_pair::is_own(file);
    let opening = [Opening { by, own: own.into() }];
    let address = address.as_ref().map_or(&[][..], Address::bytes);
    keep(thread, call, (file, inode(file)), result, [bytes_of(&opening), address].into_iter());
}

/// Most descriptors that are kept of one call.
const MOST: usize = 256;

/// What a call reported that waited for several descriptors.
pub fn keep_ready(thread: &'static Thread, result: c_int, ready: impl Iterator<Item = Ready>) {
    if !keeps() {
        return;
    }
    let mut all = [Ready { data: 0, socket: 0, file: -1, events: 0 }; MOST];
    let mut count = 0;
    for (place, ready) in all.iter_mut().zip(ready) {
        *place = ready;
        count += 1;
    }
    keep(thread, Call::Ready, (-1, 0), result.into(), [bytes_of(&all[..count])].into_iter());
}

/// What the recording has of a call that waits for several descriptors. Sockets count as ready where they were so there; all else must be ready.
pub struct Script {
    given: Given,
    looks: Cell<u32>,
}

/// The script of the next such call of the thread, if there is one.
pub fn script(thread: &'static Thread) -> Option<Script> {
    given(thread, Call::Ready).map(|given| Script { given, looks: Cell::new(0) })
}

impl Script {
    /// Whether it is what counts: the schedule is followed, and nothing was missing for too long.
    pub fn holds(&self) -> bool {
        const MOST_LOOKS: u32 = 2000;
        others::on_schedule() && self.looks.get() < MOST_LOOKS
    }

    /// In place of the wait in the kernel.
    pub fn wait(&self) -> c_int {
        const SPAN: i64 = 1_000_000;
        if self.looks.get() > 0 {
            sys::sleep(SPAN);
        }
        self.given.result().signum() as c_int
    }

    /// What was reported, if it can be reported now: `is_ready` says what is ready of that which is no socket.
    pub fn report(&self, is_ready: &dyn Fn(&Ready) -> bool) -> Option<impl Iterator<Item = Ready> + use<>> {
        let is_there = |ready: &Ready| ready.socket != 0 || is_ready(ready);
        let now = |ready: Ready| Ready { file: others::descriptor(ready.socket).unwrap_or(ready.file), ..ready };
        self.looks.set(self.looks.get() + 1);
        self.given.ready().all(|ready| is_there(&ready)).then(|| self.given.ready().map(now))
    }

    /// The call's result.
    pub fn result(&self) -> c_int {
        self.given.result as c_int
    }
}
