//! What the kernel says of a signal: `siginfo_t`.

use core::ffi::c_int;

/// All of it, in words.
pub type Information = [u64; 16];

/// Where it says who sent the signal, in words of 32 bits.
pub const CODE: usize = 2;
/// Where it has the address of a fault, in words.
pub const FAULT_ADDRESS: usize = 2;

/// Who sent a signal that went to one thread.
pub const TO_THREAD: c_int = -6;
/// Who sent one with `kill`.
pub const SENT_BY_KILL: c_int = 0;
/// Who sent one with a value.
pub const QUEUED_BY_CALL: c_int = -1;
