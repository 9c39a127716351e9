//! Calls that make another descriptor of an open file.

use core::ffi::c_int;

use super::duplicates::made;
use super::{interpose, real};

pub(super) extern "C" fn dup_(file: c_int, _: usize) -> c_int {
    made(file, real::dup(file))
}

pub(super) extern "C" fn dup2_(file: c_int, new: c_int, _: usize) -> c_int {
    made(file, real::dup2(file, new))
}

pub(super) extern "C" fn dup3_(file: c_int, new: c_int, flags: c_int, _: usize) -> c_int {
    made(file, real::dup3(file, new, flags))
}

interpose! {
    dup "rsi" => dup_;
    dup2 "rdx" => dup2_;
    dup3 "rcx" => dup3_;
}
