#![no_main]
#[path = "../entry.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entry::std(bytes));
