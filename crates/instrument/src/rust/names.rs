//! Names of Rust functions and variables.

/// The path that a symbol of Rust's stands for, without its hash; nothing for symbols of other languages.
pub fn rust_name(symbol: &str) -> Option<String> {
    is_rust(symbol).then(|| rustc_demangle::try_demangle(symbol).ok())?.map(|name| format!("{name:#}"))
}

/// A path without the brackets that the newer scheme puts around types.
pub(super) fn plain(name: &str) -> String {
    name.replace(['<', '>'], "")
}

/// The older of Rust's two schemes is C++'s, but for the hash that every name ends with.
fn is_rust(symbol: &str) -> bool {
    const HASH: usize = "17h0123456789abcdefE".len();
    symbol.starts_with("_R")
        || symbol.starts_with("_ZN")
            && symbol.split(".llvm.").next().is_some_and(|symbol| {
                symbol.len().checked_sub(HASH).and_then(|at| symbol.get(at..)).is_some_and(|end| {
                    let digits = end.strip_prefix("17h").and_then(|rest| rest.strip_suffix('E'));
                    digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
                })
            })
}

#[cfg(test)]
mod tests {
    use super::rust_name;

    #[test]
    fn both_schemes_are_read() {
        let old = rust_name("_ZN3std3sys4sync5mutex5futex5Mutex4lock17h7854eca3a0dd20cbE");
        assert_eq!(old.as_deref(), Some("std::sys::sync::mutex::futex::Mutex::lock"));
        let new = rust_name("_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync5mutex5futexNtB2_5Mutex4wake");
        assert_eq!(new.as_deref(), Some("<std::sys::sync::mutex::futex::Mutex>::wake"));
    }

    #[test]
    fn names_of_cpp_are_none() {
        for symbol in ["_ZN7Account7depositEl", "_ZNSt6vectorIiE4pushE", "main", "_ZN3fooE"] {
            assert_eq!(rust_name(symbol), None, "{symbol}");
        }
    }
}
