//! `foretrace cc` and `foretrace c++`.

use foretrace_instrument::driver::{self, Language};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Compile C for `foretrace record`, in place of the C compiler
///
/// Takes the options of clang. Programs behave as before. If there is no clang, it uses gcc and
/// says so; then traces hold values only, no expressions. Further options:
///
///   --as-shipped     optimise (-O2 and the like) before instrumenting: record the accesses that ship
///   --gcc            use gcc even if there is a clang (FORETRACE_CC=gcc does the same)
///   --lock RULE      functions of a lock of the program's own:
///                    'spin_lock,?spin_trylock/spin_unlock'; a file foretrace.locks
///                    beside the source or above may have more rules (docs/recorder.md)
///   --print-include  show the folder of foretrace.h, with which programs mark transactions
///
/// CC="foretrace cc" ./configure works. If the compiler must be one path (CMake),
/// make a link to foretrace with the name foretrace-cc or foretrace-c++.
#[derive(clap::Args)]
#[command(disable_help_flag = true, disable_version_flag = true, verbatim_doc_comment)]
pub struct Args {
    /// Options of clang; `clang --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

impl Args {
    /// Whether the help that is asked for is ours; with other arguments beside it, it is the compiler's.
    pub fn asks_for_help(&self) -> bool {
        self.arguments == ["--help"]
    }
}

/// Compile C++ for `foretrace record`, in place of the C++ compiler
///
/// As `foretrace cc`, with clang++ or g++.
#[derive(clap::Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub struct CxxArgs {
    /// Options of clang++; `clang++ --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

impl CxxArgs {
    /// Whether the help that is asked for is ours; with other arguments beside it, it is the compiler's.
    pub fn asks_for_help(&self) -> bool {
        self.arguments == ["--help"]
    }
}

/// Compiles C.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    Ok(driver::run(Language::C, args.arguments)?.into())
}

/// Compiles C++.
pub fn run_cxx(args: CxxArgs) -> anyhow::Result<ExitCode> {
    Ok(driver::run(Language::Cxx, args.arguments)?.into())
}

/// If the command was called by the name of a compiler, does the compiler's work.
pub fn run_by_name(mut words: impl Iterator<Item = OsString>) -> Option<anyhow::Result<ExitCode>> {
    let name = words.next()?;
    let arguments = words.collect();
    match Path::new(&name).file_name()?.to_str()? {
        "foretrace-cc" => Some(run(Args { arguments })),
        "foretrace-c++" => Some(run_cxx(CxxArgs { arguments })),
        _ => None,
    }
}
