//! LLVM, opened at run time: no LLVM is needed to build foretrace, and one that is newer than the clang which wrote
//! the bitcode can read all of it.
//!
//! All unsafe code of this crate is here. The handles (`Value`, `Block` …) are plain pointers with methods. They may be used as long as the
//! `Module` that they come from lives. An erased instruction may not be used.

#![allow(unsafe_code, reason = "calls of a C library")]

mod api;
mod builder;
mod debug;
mod library;
mod module;
mod opcode;
mod value;

pub use api::{Block, Layout, Metadata, Type, Value};
pub use builder::Builder;
pub use library::{LlvmError, load};
pub use module::{Context, Machine, Module};
pub use opcode::{Opcode, TypeKind, ValueKind};
pub use value::{Linkage, TailCall};

use api::Message;
use std::ffi::{CStr, CString};

/// The opened library. Handles come from it alone.
fn api() -> &'static api::Api {
    library::opened().expect("handles exist only after LLVM was opened")
}

/// Takes over a message of LLVM.
fn take_message(message: Message) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: LLVM gives its messages as C strings that we dispose of.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        (api().LLVMDisposeMessage)(message);
        text
    }
}

/// Text of LLVM's that is not zero-terminated.
///
/// # Safety
///
/// `start` is null or the start of `length` bytes.
unsafe fn text(start: api::Text, length: usize) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: as this function's.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Text for LLVM; nothing that we pass holds a zero byte.
fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}
