//! `swapcontext` and `setcontext`: a thread goes on in another piece of its code, with another stack. The log says so.

use core::ffi::c_int;

use super::{interpose, real, tracked};
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::record::Kind;

/// The thread leaves its code, which this context then stands for (0 where none does), and goes on with that one's.
fn switch(from: usize, to: usize) {
    if let Some(thread) = tracked() {
        thread.occupy();
        log::write(thread, Kind::Context, 0, [from as u64, to as u64]);
        thread.end();
    }
}

extern "C" fn swapcontext_(from: usize, to: usize, _: usize) -> c_int {
    switch(from, to);
    real::swapcontext(from, to)
}

extern "C" fn setcontext_(to: usize, _: usize) -> c_int {
    switch(0, to);
    real::setcontext(to)
}

interpose! {
    swapcontext "rdx" => swapcontext_;
    setcontext "rsi" => setcontext_;
}
