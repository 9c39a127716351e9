//! A shared library for programs of other languages.

/// Counts one more, and says how many.
#[no_mangle]
pub extern "C" fn plugin_count() -> u32 {
    counter::count();
    counter::counted()
}
