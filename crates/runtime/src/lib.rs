//! What is linked into recorded programs, and the format of the log that it writes.
//!
//! Without the feature `hooks` this is the log format alone, which the offline tools read. It depends on nothing:
//! the runtime must never call into the analysis, nor allocate through the program's allocator.

#![cfg_attr(not(test), no_std)]

pub mod library;
pub mod lock_calls;
pub mod message_order;
pub mod open;
pub mod outside;
pub mod patience;
pub mod record;
pub mod scheduler;

#[cfg(feature = "hooks")]
mod adopt;
#[cfg(feature = "hooks")]
mod controller;
#[cfg(feature = "hooks")]
mod current;
#[cfg(feature = "hooks")]
mod feed;
#[cfg(feature = "hooks")]
mod hooks;
#[cfg(feature = "hooks")]
mod interpose;
#[cfg(feature = "hooks")]
mod lock;
#[cfg(feature = "hooks")]
mod log;
#[cfg(feature = "hooks")]
mod mode;
#[cfg(feature = "hooks")]
mod modules;
#[cfg(feature = "hooks")]
mod names_outside;
#[cfg(feature = "hooks")]
mod order;
#[cfg(feature = "hooks")]
mod ownership;
#[cfg(feature = "hooks")]
mod program_time;
#[cfg(feature = "hooks")]
mod siginfo;
#[cfg(feature = "hooks")]
mod start;
#[cfg(feature = "hooks")]
mod switch;
#[cfg(feature = "hooks")]
mod sys;
#[cfg(feature = "hooks")]
mod text;
#[cfg(feature = "hooks")]
mod threads;
#[cfg(feature = "hooks")]
mod waiting;

/// A bug of the runtime: said, and the program ends as by `abort`.
#[cfg(all(feature = "hooks", not(test)))]
#[panic_handler]
fn panicked(information: &core::panic::PanicInfo) -> ! {
    mode::refuse(format_args!("internal error: {information}"))
}
