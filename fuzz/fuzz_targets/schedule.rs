#![no_main]
#[path = "../schedule.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entry::schedule(bytes));
