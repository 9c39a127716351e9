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

/// Names begin so that the runtime has in place of the library's.
const OURS: &str = "__foretrace_";

/// A name of Rust's or C++'s as in the source, without its parameters; any other as it is, but for what the runtime puts before it.
pub(crate) fn demangle(symbol: &str) -> String {
    let symbol = symbol.strip_prefix(OURS).unwrap_or(symbol);
    if let Some(name) = openmp_name(symbol) {
        return name;
    }
    if let Some(name) = rust_name(symbol) {
        return if name.starts_with(OPENMP_THREADS) { "OpenMP".to_string() } else { name };
    }
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let demangled =
        cpp_demangle::Symbol::new(symbol).ok().and_then(|symbol| symbol.demangle_with_options(&options).ok());
    demangled.unwrap_or_else(|| symbol.to_string())
}

/// The functions of the runtime in which threads of OpenMP begin.
const OPENMP_THREADS: &str = "foretrace_runtime::interpose::openmp::";

/// The name of code that clang has taken out of a function for OpenMP; nothing for other code. Some versions of clang do not say which function
/// it was.
pub(crate) fn openmp_name(symbol: &str) -> Option<String> {
    let (function, code) = symbol.split_at(symbol.find(".omp_")?);
    let is_task = code.starts_with(".omp_task");
    Some(match function {
        "" if is_task => "OpenMP task".to_string(),
        "" => "OpenMP code".to_string(),
        _ if is_task => format!("{} (task)", demangle(function)),
        _ => format!("{} (parallel region)", demangle(function)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_openmp_has_the_name_of_the_function_that_it_is_taken_out_of() {
        assert_eq!(demangle("main.omp_outlined_debug__"), "main (parallel region)");
        assert_eq!(demangle("_ZN3Sum3addEl.omp_outlined"), "Sum::add (parallel region)");
        assert_eq!(demangle(".omp_outlined..1"), "OpenMP code");
        assert_eq!(demangle(".omp_task_entry..2"), "OpenMP task");
        assert_eq!(demangle("_ZN3Sum3addEl"), "Sum::add");
    }

    #[test]
    fn what_replaces_a_function_of_a_library_has_its_name() {
        assert_eq!(demangle("__foretrace_strtok"), "strtok");
    }
}
