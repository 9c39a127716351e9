//! Addresses that the program gives its sockets, which another run of it may want at the same time.

use core::ffi::{c_int, c_void};

use super::{interpose, real};
use crate::{names_outside, sys};

extern "C" fn bind_(file: c_int, address: *const c_void, length: u32, _place: usize) -> c_int {
    const BAD_ADDRESS: c_int = 14;
    let result = real::bind(file, address, length);
    if result == 0 || sys::errno() != BAD_ADDRESS {
        names_outside::bound(address, length); // another run may have it
    }
    result
}

interpose! {
    bind "rcx" => bind_;
}
