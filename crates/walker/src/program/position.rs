//! Positions in the source, and names as the source has them.

use super::code::Code;
use foretrace_instrument::rust::rust_name;

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file, shortened relative to the directory in which it was compiled.
    pub file: String,
    /// From 1; 0 where not known.
    pub line: u32,
    /// From 1; 0 where not known.
    pub column: u32,
    /// The function that it lies in, by its name in the source.
    pub function: String,
}

impl Position {
    /// Whether it lies in a file of the system.
    pub(crate) fn is_library(&self) -> bool {
        Code::of_file("", &self.file) != Code::Own
    }
}

/// A name of Rust's or C++'s as in the source, without its parameters; any other as it is.
pub(crate) fn demangle(symbol: &str) -> String {
    if let Some(name) = rust_name(symbol) {
        return name;
    }
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let demangled =
        cpp_demangle::Symbol::new(symbol).ok().and_then(|symbol| symbol.demangle_with_options(&options).ok());
    demangled.unwrap_or_else(|| symbol.to_string())
}
