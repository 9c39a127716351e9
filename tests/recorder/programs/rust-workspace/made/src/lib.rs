//! A procedural macro, which runs inside of the compiler and must not be recorded.

use proc_macro::TokenStream;

/// 42.
#[proc_macro]
pub fn answer(_: TokenStream) -> TokenStream {
    assert!(!cfg!(foretrace));
    "42".parse().unwrap()
}
