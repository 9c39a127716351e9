//! Ports that the kernel chooses for sockets: a `bind` to port 0. A program may compute with such a number, so a replay asks the kernel for the
//! one of the recording. Where another socket has it, the kernel chooses once more.

use core::ffi::{c_int, c_void};

use super::key::{Key, note};
use super::{Source, keep, stored};
use crate::hooks::occupied::Occupied;
use crate::interpose::tracked;
use crate::sys;

const PORT: Key = Key::new(Source::Port, 0);
const IP4: u16 = 2;
const IP6: u16 = 10;
/// Addresses of these families, as long as programs give them.
const SHORTEST: usize = 16;
const LONGEST: usize = 128;

/// Binds a socket by `bind` to this address. `port` says which one it has then.
pub fn bind(
    address: *const c_void,
    length: u32,
    bind: impl Fn(*const c_void) -> c_int,
    port: impl FnOnce() -> u16,
) -> c_int {
    let recorded = recorded();
    // SAFETY: the recorded program gave the kernel an address by this call.
    let wanted = recorded.and_then(|port| unsafe { with_port(address, length, port) });
    let result = wanted.and_then(|wanted| bind_to(&wanted, &bind)).unwrap_or_else(|| bind(address));
    let error = sys::errno();
    // SAFETY: the kernel could read it.
    let chosen = if result == 0 && unsafe { with_port(address, length, 0) }.is_some() { port() } else { 0 };
    if let Some(recorded) = recorded.filter(|recorded| *recorded != chosen) {
        tell(recorded, chosen);
    }
    keep(PORT, i64::from(chosen), core::ptr::null(), 0);
    sys::set_errno(error);
    result
}

/// An address that leaves the port to the kernel, with this port.
///
/// # Safety
///
/// It can be read.
unsafe fn with_port(address: *const c_void, length: u32, port: u16) -> Option<[u8; LONGEST]> {
    let length = length as usize;
    if address.is_null() || !(SHORTEST..=LONGEST).contains(&length) {
        return None;
    }
    let mut bytes = [0; LONGEST];
    // SAFETY: by the caller.
    bytes[..length].copy_from_slice(unsafe { core::slice::from_raw_parts(address.cast(), length) });
    let family = u16::from_ne_bytes([bytes[0], bytes[1]]);
    if !matches!(family, IP4 | IP6) || bytes[2..4] != [0, 0] {
        return None;
    }
    bytes[2..4].copy_from_slice(&port.to_be_bytes());
    Some(bytes)
}

/// The port that the recording has of this call.
fn recorded() -> Option<u16> {
    let thread = tracked().filter(|thread| !thread.busy.get())?;
    thread.occupy();
    let entry = stored::entry(thread, PORT);
    thread.end();
    entry.and_then(|(port, _)| u16::try_from(port).ok()).filter(|port| *port != 0)
}

/// Nothing if the socket cannot have this address.
fn bind_to(address: &[u8; LONGEST], bind: impl Fn(*const c_void) -> c_int) -> Option<c_int> {
    let before = sys::errno();
    let result = bind(address.as_ptr().cast());
    if result != 0 {
        sys::set_errno(before);
    }
    (result == 0).then_some(result)
}

fn tell(recorded: u16, chosen: u16) {
    if let Some(thread) = tracked() {
        note(thread, format_args!("{} was {recorded} in the recording and is {chosen} now", PORT.name()));
    }
}
