//! C and C++ that the build scripts of a Rust project compile: they find their compilers by variables of the environment, as the crate `cc` does.

use anyhow::Context;
use foretrace_instrument::driver::{self, Language, rust};
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What recorded programs run on.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";
/// The names by which build scripts call us.
pub const NAMES: [&str; 2] = ["foretrace-build-cc", "foretrace-build-c++"];
/// What they say of the compilers, most telling first: `CC` and `CXX`.
const VARIABLES: [&str; 2] = ["CC", "CXX"];

/// The variables that make them call us, but for compilers that the user has chosen.
pub fn compilers(tools: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let ours = NAMES.into_iter().zip(VARIABLES).filter(|(_, variable)| !is_chosen(variable));
    ours.map(|(name, variable)| (format!("{variable}_{}", TARGET.replace('-', "_")), tools.join(name)))
}

fn is_chosen(variable: &str) -> bool {
    let target = [format!("{variable}_{TARGET}"), format!("{variable}_{}", TARGET.replace('-', "_"))];
    let general = [format!("TARGET_{variable}"), variable.to_string()];
    target.iter().chain(&general).any(|name| env::var_os(name).is_some())
}

/// If we were called by such a name, does the compiler's work. Only what comes into a program of the project's own packages is built for
/// recording: what others bring is a library, and build scripts and procedural macros are not linked with the runtime.
pub fn compile(name: &Path, arguments: Vec<OsString>) -> Option<anyhow::Result<ExitCode>> {
    let (language, plain) = match name.file_name().and_then(OsStr::to_str)? {
        "foretrace-build-cc" => (Language::C, "cc"),
        "foretrace-build-c++" => (Language::Cxx, "c++"),
        _ => return None,
    };
    let folder = name.parent()?.parent()?;
    let (output, package) = (env::var_os("OUT_DIR"), env::var_os("CARGO_MANIFEST_DIR"));
    let own = env::var_os(rust::UNDER_TEST).unwrap_or_default();
    Some(match is_recorded(folder, output.as_deref(), package.as_deref(), &own) {
        true => driver::run(language, arguments).map(ExitCode::from).map_err(Into::into),
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
