//! Closing a descriptor: what is kept of it is forgotten, since the next one may have its number.

use core::ffi::c_int;

use super::{channels, duplicates, epoll, file_locks, interpose, real, socket_order, tracked};

pub(super) extern "C" fn close_(file: c_int, place: usize) -> c_int {
    if let Some(thread) = tracked().filter(|_| socket_order::is_socket(file)) {
        socket_order::before_sending(thread, place);
        socket_order::leave(thread, file);
    }
    if let Some(thread) = tracked() {
        epoll::closed(thread, file);
        channels::closed(thread, file);
        file_locks::closed(thread, file, place);
    }
    duplicates::forget(file);
    real::close(file)
}

interpose! {
    close "rsi" => close_;
}
