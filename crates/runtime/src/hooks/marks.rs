//! Transactions and operations that the program marks by `foretrace.h`.

use crate::controller;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::interpose::tracked;
use crate::log;
use crate::record::Kind;
use crate::switch;

fn mark(kind: Kind, words: [u64; 2], place: usize) {
    if let Some(thread) = tracked() {
        thread.begin();
        log::sync(thread, kind, place, words[0], words[1]);
        if kind == Kind::AtomicEnd {
            controller::transaction_ends(thread);
        }
        thread.end();
    }
}

extern "C" fn begin(label: usize, place: usize) {
    mark(Kind::AtomicBegin, [label as u64, 0], place);
}

extern "C" fn end(label: usize, place: usize) {
    mark(Kind::AtomicEnd, [label as u64, 0], place);
}

extern "C" fn call(method: usize, object: usize, place: usize) {
    mark(Kind::CallBegin, [method as u64, object as u64], place);
}

extern "C" fn back(method: usize, object: usize, place: usize) {
    mark(Kind::CallEnd, [method as u64, object as u64], place);
}

extern "C" fn value(value: usize, given: usize, place: usize) {
    mark(Kind::CallValue, [value as u64, given as u64], place);
}

/// Records from here on.
#[unsafe(no_mangle)]
pub extern "C" fn foretrace_record_on() {
    if !controller::replaying() {
        switch::switch_on();
    }
}

/// Records nothing from here on.
#[unsafe(no_mangle)]
pub extern "C" fn foretrace_record_off() {
    if tracked().is_some() && !controller::replaying() {
        switch::switch_off();
    }
}

crate::interpose::interpose! {
    foretrace_atomic_begin "rsi" => begin;
    foretrace_atomic_end "rsi" => end;
    foretrace_call "rdx" => call;
    foretrace_return "rdx" => back;
    foretrace_value "rdx" => value;
}
