//! C and C++ that the build scripts of a Rust project compile: they find their compilers by variables of the environment, as the crate `cc` does.

use anyhow::Context;
use foretrace_instrument::driver::{self, Language, rust};
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What recorded programs run on.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";
/// The same as a part of the name of a variable.
const TARGET_IN_VARIABLES: &str = "x86_64_unknown_linux_gnu";

/// A compiler that build scripts call.
struct Compiler {
    /// The name by which they call us.
    name: &'static str,
    /// Variables that begin so name a compiler of the language.
    variable: &'static str,
    language: Language,
    /// What compiles what is not recorded.
    plain: &'static str,
}

const COMPILERS: [Compiler; 2] = [
    Compiler { name: "foretrace-build-cc", variable: "CC", language: Language::C, plain: "cc" },
    Compiler { name: "foretrace-build-c++", variable: "CXX", language: Language::Cxx, plain: "c++" },
];

/// The names by which build scripts call us.
pub fn names() -> impl Iterator<Item = &'static str> {
    COMPILERS.iter().map(|compiler| compiler.name)
}

/// The variables that make them call us, but for compilers that the user has chosen.
pub fn compilers(tools: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let ours = COMPILERS.iter().filter(|compiler| !is_chosen(compiler.variable));
    ours.map(|Compiler { name, variable, .. }| (format!("{variable}_{TARGET_IN_VARIABLES}"), tools.join(name)))
}

fn is_chosen(variable: &str) -> bool {
    let target = [format!("{variable}_{TARGET}"), format!("{variable}_{TARGET_IN_VARIABLES}")];
    let general = [format!("TARGET_{variable}"), variable.to_string()];
    target.iter().chain(&general).any(|name| env::var_os(name).is_some())
}

/// If we were called by such a name, does the compiler's work. Only what comes into a program of the project's own packages is built for
/// recording: what others bring is a library, and build scripts and procedural macros are not linked with the runtime.
pub fn compile(name: &Path, arguments: Vec<OsString>) -> Option<anyhow::Result<ExitCode>> {
    let called = name.file_name()?;
    let Compiler { language, plain, .. } = COMPILERS.iter().find(|compiler| called == compiler.name)?;
    let folder = name.parent()?.parent()?;
    let (output, package) = (env::var_os("OUT_DIR"), env::var_os("CARGO_MANIFEST_DIR"));
    let own = env::var_os(rust::UNDER_TEST).unwrap_or_default();
    Some(match is_recorded(folder, output.as_deref(), package.as_deref(), &own) {
        true => driver::run(*language, arguments).map(ExitCode::from).map_err(Into::into),
        false => run_plain(plain, &arguments),
    })
}

fn run_plain(compiler: &str, arguments: &[OsString]) -> anyhow::Result<ExitCode> {
    let status = Command::new(compiler).args(arguments).status();
    Ok(driver::exit_code(status.with_context(|| format!("cannot run {compiler}"))?).into())
}

/// Whether a build script of one of these packages runs for a program, below this folder of results.
fn is_recorded(folder: &Path, output: Option<&OsStr>, package: Option<&OsStr>, own: &OsStr) -> bool {
    let is_of_program = output.is_some_and(|output| Path::new(output).starts_with(folder.join(TARGET)));
    is_of_program && package.is_some_and(|package| env::split_paths(own).any(|one| one == Path::new(package)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_into_programs_of_the_project_is_recorded() {
        let decide = |output: &str, package: &str| {
            let (output, package) = (Some(OsStr::new(output)), Some(OsStr::new(package)));
            is_recorded(Path::new("/p/target/foretrace"), output, package, OsStr::new("/p/one:/p/two"))
        };
        let of_program = "/p/target/foretrace/x86_64-unknown-linux-gnu/debug/build/two-1/out";
        assert!(decide(of_program, "/p/two"));
        assert!(!decide("/p/target/foretrace/debug/build/two-1/out", "/p/two"), "a build script's own part");
        assert!(!decide(of_program, "/registry/zlib"), "a package of others");
    }
}
