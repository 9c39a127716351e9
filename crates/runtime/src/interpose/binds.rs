//! Addresses that the program gives its sockets, which another run of it may want at the same time, and by which its threads find them.

use core::ffi::{c_int, c_void};

use super::socket_pair::Address;
use super::unseen::{LISTENING, NAMES, What, has_threads};
use super::unseen_calls;
use super::{interpose, real};
use crate::feed::ports;
use crate::names_outside;
use crate::record::object::ADDS;
use crate::sys::{self, call};

/// Whether its addresses are names of files.
pub fn is_local(file: c_int) -> bool {
    const SOCKET_LEVEL: c_int = 1;
    const DOMAIN: c_int = 39;
    const LOCAL: c_int = 1;
    let (mut domain, mut length): (c_int, u32) = (0, 4);
    call!(GETSOCKOPT, file, SOCKET_LEVEL, DOMAIN, &raw mut domain, &raw mut length) == 0 && domain == LOCAL
}

/// The port of an internet socket.
fn port_of(file: c_int) -> u16 {
    Address::own(file).map_or(0, |address| u16::from_be_bytes([address.bytes()[2], address.bytes()[3]]))
}

extern "C" fn bind_(file: c_int, address: *const c_void, length: u32, place: usize) -> c_int {
    const BAD_ADDRESS: c_int = 14;
    let bind = || ports::bind(address, length, |address| real::bind(file, address, length), || port_of(file));
    let named = |object| What { does: ADDS, ..What::named(c"bind", object) };
    let found = || unseen_calls::around(named(LISTENING), place, bind);
    let result = match is_local(file) {
        _ if !has_threads() => bind(),
        true => unseen_calls::around(named(NAMES), place, found),
        false => found(),
    };
    if result == 0 || sys::errno() != BAD_ADDRESS {
        names_outside::bound(address, length); // another run may have it
    }
    result
}

interpose! {
    bind "rcx" => bind_;
}
