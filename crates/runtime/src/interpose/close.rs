//! Closing a descriptor: what is kept of it is forgotten, since the next one may have its number.

use core::ffi::c_int;

use super::{channels, epoll, file_locks, interpose, outside, real, tracked};

extern "C" fn close_(file: c_int, place: usize) -> c_int {
    if let Some(thread) = tracked().filter(|_| outside::is_socket(file)) {
        outside::before_sending(thread, place);
        outside::leave(thread, file);
    }
    if let Some(thread) = tracked() {
        epoll::closed(thread, file);
        channels::closed(thread, file);
        file_locks::closed(thread, file, place);
    }
    real::close(file)
}

interpose! {
    close "rsi" => close_;
}
