//! Pipes and event counters within the program: what one thread reads another has written before. They are recorded as
//! semaphores that count writes.
//!
//! Pipes that the process was started with lead elsewhere, and whether they are pipes differs from run to run: they are none of these. What
//! one call takes beyond its first write, or without waiting, is no order of every path: such a record says that the call could have
//! returned without it. The order of the messages is in [`crate::message_order`].
//!
//! What comes from other processes has no `Post`, so reading it is no `Down`. Where writes to a pipe are of different lengths a
//! read counts as that of one: the order that is recorded is then a part of what there was.

use core::ffi::{c_int, c_void};

use super::channel::{
    Channel, MOST_AT_ONCE, Message, ONE_BY_ONE, OfFile, no_signal, order_key, post, put, record, take_back,
};
use super::channel_reads::Reading;
use super::ends::{End, before_waiting, end, event_key};
use super::poll::{Poll, WRITABLE};
use super::unseen::{self, TIMERS, What};
use super::{arrivals, entropy, files, interpose, kernel_files, real, socket_order, sockets, tracked};
use crate::feed::sockets::Call;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::message_order::{LONGEST_TEXT, SEVERAL, text_of};
use crate::record::Kind;
use crate::record::object::{ADDS, LOOKS};
use crate::sys::{self, call};
use crate::threads::Thread;
use crate::waiting;

/// A descriptor is closed: the next one of its number is another.
pub fn closed(thread: &'static Thread, file: c_int) {
    if let Some(End::File(key)) = end(file) {
        thread.occupy();
        let bucket = waiting::lock(key);
        bucket.forget(key);
        bucket.forget(order_key(key));
        bucket.unlock();
        thread.end();
    }
}

pub(super) extern "C" fn write_(file: c_int, from: *const c_void, bytes: usize, place: usize) -> isize {
    let end = tracked().and_then(|thread| Some((thread, end(file)?)));
    let (thread, key, is_counter) = match end {
        Some((thread, End::Channel(key, is_counter))) => (thread, key, is_counter),
        Some((thread, End::Socket)) => {
            return socket_order::send_by(thread, (file, bytes as u64), place, || real::write(file, from, bytes));
        }
        Some((_, End::File(_))) => {
            return files::accessing(c"write", ADDS, file, place, || real::write(file, from, bytes));
        }
        _ => return real::write(file, from, bytes),
    };
    // SAFETY: an event counter takes eight bytes of the program, a number.
    let value =
        if is_counter && bytes == size_of::<u64>() { unsafe { from.cast::<u64>().read_unaligned() } } else { 1 };
    let is_full = !can_take(file);
    let text = match is_counter {
        true => 0,
        // SAFETY: the bytes that the program writes; without any, and for many, the pointer is not looked at.
        false if (1..=LONGEST_TEXT).contains(&bytes) => {
            text_of(unsafe { core::slice::from_raw_parts(from.cast(), bytes) })
        }
        false => SEVERAL,
    };
    let posts = post(thread, key, Message { bytes: bytes as u64, value, text }, place);
    let written = real::write(file, from, bytes);
    if written <= 0 {
        take_back(thread, key, posts, place);
    } else if is_full {
        unseen::mark(thread, What::anything(c"write"), place); // it waited for somebody who read
    }
    written
}

/// Whether a write would not wait.
fn can_take(file: c_int) -> bool {
    let mut poll = Poll::new(file, WRITABLE);
    call!(POLL, &raw mut poll, 1, 0) != 0
}

pub extern "C" fn read_(file: c_int, to: *mut c_void, bytes: usize, place: usize) -> isize {
    let end = tracked().and_then(|thread| Some((thread, end(file)?)));
    match end {
        Some((thread, End::Channel(key, all))) => {
            return Reading { thread, file, parts: &[[to as usize, bytes]], key, all, place }.read();
        }
        Some((thread, End::Socket)) => {
            let read = || real::read(file, to, bytes);
            return socket_order::receive(thread, file, (&[[to as usize, bytes]], 0), place, read);
        }
        Some((_, End::Random)) => return entropy::read_device(file, to, bytes),
        Some((thread, End::File(key))) => {
            let call = OfFile { thread, key, place };
            return files::accessing(c"read", LOOKS, file, place, || read_file(call, file, to, bytes));
        }
        _ => {}
    }
    let read = || real::read(file, to, bytes);
    let read = match end {
        Some((thread, End::Input)) => sockets::receive(thread, file, &[[to as usize, bytes]], Call::Input, read),
        Some((thread, End::Signals)) => {
            before_waiting(thread, file);
            read()
        }
        _ => read(),
    };
    match end {
        Some((thread, End::Timer)) if read > 0 => unseen::mark(thread, What::named(c"read", TIMERS), place),
        Some((thread, End::Unseen)) if read > 0 => unseen::mark(thread, What::anything(c"read"), place),
        Some((thread, End::Signals)) if read < 0 && sys::errno() == sys::EAGAIN => {
            thread.begin();
            no_signal(thread, place);
            thread.end();
            sys::set_errno(sys::EAGAIN);
        }
        // SAFETY: the kernel wrote so many bytes there.
        Some((thread, End::Signals)) if read > 0 => unsafe { signals_read(thread, to.cast(), read as usize, place) },
        _ => {}
    }
    read
}

/// Reads from a file whose position other threads may move. That nothing is left is also due to those who read before.
fn read_file(of_file: OfFile, file: c_int, to: *mut c_void, bytes: usize) -> isize {
    real::pthread_testcancel(); // as the library's call does
    let before = sys::errno();
    const ON: usize = 1; // from the position on
    let read = || of_file.in_one_step(|| call!(READ, file, to, bytes));
    let pass = |bytes: isize| {
        of_file.in_one_step(|| call!(LSEEK, file, bytes.max(0), ON));
    };
    let read = kernel_files::reading(file, to, bytes, read, pass);
    sys::set_errno(if read < 0 { -read as c_int } else { before });
    read.max(-1)
}

/// Moves the position of a file.
extern "C" fn lseek_(file: c_int, by: i64, from: c_int, place: usize) -> i64 {
    let seek = || real::lseek(file, by, from);
    match tracked().filter(|_| unseen::has_threads()).and_then(|thread| Some((thread, end(file)?))) {
        Some((thread, End::File(key))) => OfFile { thread, key, place }.in_turn(seek),
        _ => seek(),
    }
}

/// Signals were read from their descriptor.
unsafe fn signals_read(thread: &'static Thread, from: *const [c_int; 32], bytes: usize, place: usize) {
    for index in 0..bytes / size_of::<[c_int; 32]>() {
        // SAFETY: `struct signalfd_siginfo` of 128 bytes each: the signal, an error, who sent it.
        let [signal, _, code, ..] = unsafe { *from.add(index) };
        arrivals::arrived(thread, signal, code, place);
    }
}

/// What was written to one that had this descriptor before is not in the new one.
pub(super) extern "C" fn eventfd_(count: u32, flags: c_int, place: usize) -> c_int {
    const SEMAPHORE: c_int = 1;
    let file = real::eventfd(count, flags);
    if file >= 0
        && let Some(thread) = tracked()
    {
        let is_semaphore = flags & SEMAPHORE != 0;
        let mut channel = Channel::new(if is_semaphore { ONE_BY_ONE } else { 0 });
        channel.writes = if is_semaphore { u64::from(count).min(MOST_AT_ONCE) } else { u64::from(count > 0) };
        thread.begin();
        let bucket = waiting::lock(event_key(file));
        bucket.forget(event_key(file));
        record(thread, Kind::SemaphoreInit, &channel, channel.writes, place);
        put(bucket, event_key(file), &channel);
        bucket.unlock();
        thread.end();
    }
    file
}

extern "C" fn eventfd_write_(file: c_int, value: u64, place: usize) -> c_int {
    if write_(file, (&raw const value).cast(), size_of::<u64>(), place) < 0 { -1 } else { 0 }
}

extern "C" fn eventfd_read_(file: c_int, value: *mut u64, place: usize) -> c_int {
    if read_(file, value.cast(), size_of::<u64>(), place) < 0 { -1 } else { 0 }
}

interpose! {
    write "rcx" => write_;
    read "rcx" => read_;
    lseek "rcx" => lseek_;
    lseek64 "rcx" => lseek_;
    eventfd "rdx" => eventfd_;
    eventfd_write "rdx" => eventfd_write_;
    eventfd_read "rdx" => eventfd_read_;
}
