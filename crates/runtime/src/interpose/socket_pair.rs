//! Connections to ourselves, for the programs that a replay plays. Our ends have high numbers, so that the program's get those that they would have.

use core::ffi::c_int;

use super::descriptors::{DEVICE, KIND, status};
use crate::sys::{self, call};

/// Our descriptors begin here.
const HIGH: usize = 600;
const UNIX: u16 = 1;
const INTERNET: u16 = 2;
const INTERNET_6: u16 = 10;
const STREAM: c_int = 1;

/// `struct sockaddr` of any family, with its length.
#[derive(Clone, Copy)]
pub struct Address {
    bytes: [u8; 128],
    length: u32,
}

impl Address {
    /// What the kernel says by this call, `GETSOCKNAME` or `GETPEERNAME`.
    fn asked(ask: impl FnOnce(*mut u8, *mut u32) -> isize) -> Option<Address> {
        let mut address = Address { bytes: [0; 128], length: 128 };
        let asked = ask(address.bytes.as_mut_ptr(), &mut address.length);
        address.length = address.length.min(128);
        (asked == 0).then_some(address)
    }

    pub fn own(file: c_int) -> Option<Address> {
        Address::asked(|to, length| call!(GETSOCKNAME, file, to, length))
    }

    pub fn peer(file: c_int) -> Option<Address> {
        Address::asked(|to, length| call!(GETPEERNAME, file, to, length))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length as usize]
    }

    fn family(&self) -> u16 {
        u16::from_ne_bytes([self.bytes[0], self.bytes[1]])
    }

    /// The loopback interface, at any port or at that of another address. Nothing of other families.
    fn loopback(family: u16, port: [u8; 2]) -> Option<Address> {
        let mut bytes = [0; 128];
        bytes[..2].copy_from_slice(&family.to_ne_bytes());
        bytes[2..4].copy_from_slice(&port);
        let length = match family {
            INTERNET => {
                bytes[4..8].copy_from_slice(&[127, 0, 0, 1]);
                16
            }
            // 127.0.0.1 as an address of version 6, which is there without an interface of that version.
            INTERNET_6 => {
                bytes[18..24].copy_from_slice(&[0xff, 0xff, 127, 0, 0, 1]);
                28
            }
            _ => return None,
        };
        Some(Address { bytes, length })
    }
}

/// The number of a socket that no other one has while it is there; 0 if it is none.
pub fn inode(file: c_int) -> u64 {
    status(file).map_or(0, |status| status.inode)
}

/// Whether the runtime knows that no other program is at the other end, or that it cannot be played.
pub fn is_own(file: c_int) -> bool {
    const KIND: usize = 3;
    if option(file, KIND).is_none_or(|[kind, ..]| kind != STREAM) {
        return true;
    }
    match Address::own(file).map(|address| address.family()) {
        Some(UNIX) => is_peer_own(file),
        Some(INTERNET | INTERNET_6) => false,
        _ => true,
    }
}

/// Whether both ends of a local connection are the program's own.
pub fn is_between_own(file: c_int) -> bool {
    const ACCEPTS: usize = 30;
    option(file, ACCEPTS).is_some_and(|[accepts, ..]| accepts == 0) && is_peer_own(file)
}

/// Whether this process made the other end of a local socket, or lets others connect.
fn is_peer_own(file: c_int) -> bool {
    const CREDENTIALS: usize = 17;
    option(file, CREDENTIALS).is_some_and(|[process, ..]| process as isize == call!(GETPID, 0))
}

/// What the kernel says of a socket under this name.
fn option(file: c_int, name: usize) -> Option<[c_int; 3]> {
    const SOCKET_LEVEL: usize = 1;
    let mut value = [0; 3];
    let mut length = size_of_val(&value) as u32;
    let asked = call!(GETSOCKOPT, file, SOCKET_LEVEL, name, value.as_mut_ptr(), &raw mut length);
    (asked == 0).then_some(value)
}

fn socket(family: u16) -> Option<c_int> {
    descriptor(call!(SOCKET, family, STREAM | CLOSE_ON_EXEC, 0))
}

const CLOSE_ON_EXEC: c_int = 0o2_000_000;

fn descriptor(result: isize) -> Option<c_int> {
    c_int::try_from(result).ok().filter(|file| *file >= 0)
}

/// The same open socket by a high number.
fn high(file: c_int) -> Option<c_int> {
    const DUPLICATE: usize = 1030;
    let moved = descriptor(call!(FCNTL, file, DUPLICATE, HIGH));
    sys::close(file);
    moved
}

/// The same open socket by this number, if that is free; else it stays where it is.
pub fn at(number: c_int, file: c_int) -> c_int {
    const GET_FLAGS: usize = 1;
    const BAD_DESCRIPTOR: isize = -9;
    let flags = call!(FCNTL, file, GET_FLAGS);
    let close_on_exec = if flags & 1 != 0 { CLOSE_ON_EXEC } else { 0 };
    if number == file || number < 0 || call!(FCNTL, number, GET_FLAGS) != BAD_DESCRIPTOR {
        return file;
    }
    match descriptor(call!(DUP3, file, number, close_on_exec)) {
        Some(number) => {
            sys::close(file);
            number
        }
        None => file,
    }
}

/// A socket of ours that listens on the loopback interface, and where.
fn listener(family: u16) -> Option<(c_int, Address)> {
    let file = high(socket(family)?)?;
    let any = Address::loopback(family, [0; 2])?;
    call!(BIND, file, any.bytes.as_ptr(), any.length);
    call!(LISTEN, file, 8);
    Some((file, Address::own(file)?))
}

/// A connection in place of one that came by this descriptor, which listens: our end, and the program's.
pub fn accepted(listening: c_int, flags: c_int) -> Option<(c_int, c_int)> {
    let family = Address::own(listening)?.family();
    if family == UNIX {
        let mut pair = [0; 2];
        if call!(SOCKETPAIR, UNIX, STREAM | flags, 0, pair.as_mut_ptr()) != 0 {
            return None;
        }
        let [theirs, ours] = pair;
        return Some((high(ours)?, theirs));
    }
    let (listener, address) = listener(family)?;
    let ours = high(socket(family)?)?;
    let connected = call!(CONNECT, ours, address.bytes.as_ptr(), address.length) == 0;
    let theirs = connected.then(|| descriptor(call!(ACCEPT4, listener, 0, 0, flags))).flatten();
    sys::close(listener);
    Some((ours, theirs?))
}

/// Connects the program's socket to ourselves: our end.
pub fn connected(file: c_int) -> Option<c_int> {
    let family = Address::own(file)?.family();
    if family == UNIX {
        return None;
    }
    let (listener, address) = listener(family)?;
    let result = call!(CONNECT, file, address.bytes.as_ptr(), address.length);
    let is_under_way = result == 0 || result == -(sys::EINPROGRESS as isize);
    let ours = is_under_way.then(|| descriptor(call!(ACCEPT4, listener, 0, 0, CLOSE_ON_EXEC))).flatten();
    sys::close(listener);
    high(ours?)
}

/// Connects to where the program listens.
pub fn connect_to(listening: c_int) -> Option<c_int> {
    const NON_BLOCKING: c_int = 0o4000;
    let own = Address::own(listening)?;
    let file = high(descriptor(call!(SOCKET, own.family(), STREAM | CLOSE_ON_EXEC | NON_BLOCKING, 0))?)?;
    let address = match own.family() {
        UNIX => own,
        family => Address::loopback(family, [own.bytes[2], own.bytes[3]])?,
    };
    let result = call!(CONNECT, file, address.bytes.as_ptr(), address.length);
    (result == 0 || result == -(sys::EINPROGRESS as isize)).then_some(file)
}

/// Whether a descriptor is one of a terminal.
pub fn is_terminal(file: c_int) -> bool {
    const CONSOLES: u64 = 4;
    const OF_PROCESS: u64 = 5;
    const PSEUDO: core::ops::RangeInclusive<u64> = 136..=143;
    let device = status(file).filter(|status| status.mode & KIND == DEVICE).map(|status| status.device_behind() >> 8);
    device.is_some_and(|major| [CONSOLES, OF_PROCESS].contains(&major) || PSEUDO.contains(&major))
}

/// A pipe in place of what the program was started with: our end, to which writing never waits.
pub fn input(file: c_int) -> Option<c_int> {
    const SET_FLAGS: usize = 4;
    const NON_BLOCKING: c_int = 0o4000;
    let mut ends = [0; 2];
    if call!(PIPE2, ends.as_mut_ptr(), 0) != 0 {
        return None;
    }
    let [theirs, ours] = ends;
    let ours = high(ours)?;
    call!(FCNTL, ours, SET_FLAGS, NON_BLOCKING);
    if theirs != file {
        call!(DUP3, theirs, file, 0);
        sys::close(theirs);
    }
    Some(ours)
}

/// The error of a call on a socket for what is none.
pub const NO_SOCKET: isize = -88;
const DO_NOT_WAIT: usize = 0x40;

/// Sends bytes, as many as there is room for: how many. Nothing if the other end is gone.
pub fn send(file: c_int, from: *const u8, bytes: usize) -> Option<usize> {
    const NO_SIGNAL: usize = 0x4000;
    let sent = match call!(SENDTO, file, from, bytes, DO_NOT_WAIT | NO_SIGNAL, 0, 0) {
        NO_SOCKET => call!(WRITE, file, from, bytes), // a pipe; our thread takes no signals
        sent => sent,
    };
    match sent {
        full if full == -(sys::EAGAIN as isize) => Some(0),
        sent => usize::try_from(sent).ok(),
    }
}

/// Takes what the program sent; whether there was something.
pub fn discard(file: c_int) -> bool {
    const BYTES: usize = 1 << 14;
    let mut bytes = [0u8; BYTES];
    call!(RECVFROM, file, bytes.as_mut_ptr(), BYTES, DO_NOT_WAIT, 0, 0) > 0
}
