//! Transactions that the program marks by `foretrace.h`.

use crate::interpose::tracked;
use crate::log;
use crate::record::Kind;

fn mark(kind: Kind, label: usize, place: usize) {
    if let Some(thread) = tracked() {
        thread.begin();
        log::sync(thread, kind, place, label as u64, 0);
        thread.end();
    }
}

extern "C" fn begin(label: usize, place: usize) {
    mark(Kind::AtomicBegin, label, place);
}

extern "C" fn end(label: usize, place: usize) {
    mark(Kind::AtomicEnd, label, place);
}

crate::interpose::interpose! {
    foretrace_atomic_begin "rsi" => begin;
    foretrace_atomic_end "rsi" => end;
}
