//! Transactions that the program marks by `foretrace.h`.

use crate::controller;
use crate::interpose::tracked;
use crate::log;
use crate::record::Kind;
use crate::window;

fn mark(kind: Kind, label: usize, place: usize) {
    if let Some(thread) = tracked() {
        thread.begin();
        log::sync(thread, kind, place, label as u64, 0);
        if kind == Kind::AtomicEnd {
            controller::transaction_ends(thread);
        }
        thread.end();
    }
}

extern "C" fn begin(label: usize, place: usize) {
    mark(Kind::AtomicBegin, label, place);
}

extern "C" fn end(label: usize, place: usize) {
    mark(Kind::AtomicEnd, label, place);
}

/// Records from here on.
#[unsafe(no_mangle)]
pub extern "C" fn foretrace_record_on() {
    if !controller::replaying() {
        window::switch_on();
    }
}

/// Records nothing from here on.
#[unsafe(no_mangle)]
pub extern "C" fn foretrace_record_off() {
    if tracked().is_some() && !controller::replaying() {
        window::switch_off();
    }
}

crate::interpose::interpose! {
    foretrace_atomic_begin "rsi" => begin;
    foretrace_atomic_end "rsi" => end;
}
