//! The link: objects take the places of their sources, and programs get the runtime.

use super::arguments::{Argument, Arguments};
use super::error::DriverError;
use super::tools::{Compiler, Make, exit_code};
use crate::CONCRETE;
use crate::runtime::runtime_archive;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;

/// Links; `objects` stand in the order of the files that were compiled, and `more` goes before libraries that the compiler adds.
pub fn link(
    arguments: &Arguments,
    compiler: &Compiler,
    objects: Vec<PathBuf>,
    more: Vec<PathBuf>,
) -> Result<u8, DriverError> {
    if let Some(word) = arguments.words.iter().find(|word| *word == "-static" || *word == "-static-pie") {
        return Err(DriverError::Static(word.to_string_lossy().into_owned()));
    }
    let mut objects = VecDeque::from(objects);
    let mut words = Vec::new();
    if arguments.words.iter().any(|word| word.to_string_lossy().starts_with("-fopenmp")) {
        words.push("-Wl,--no-as-needed".into()); // with recording off its library does the work
    }
    for part in &arguments.parts {
        match part {
            Argument::Compiled { .. } => words.extend(objects.pop_front().map(OsString::from)),
            Argument::Linked(part) | Argument::Shared(part) => words.extend_from_slice(part),
            Argument::Level(_) | Argument::Dependencies(_) => {}
        }
    }
    words.extend(more.into_iter().map(OsString::from));
    words.extend(arguments.output.iter().flat_map(|output| ["-o".into(), output.clone()]));
    match compiler.make {
        Make::Clang => words.push("-Wno-unused-command-line-argument".into()),
        Make::Gcc => words.push(format!("-Wl,--defsym={CONCRETE}=1").into()),
    }
    if arguments.makes_library() {
        // Hooks are found in the program that loads it.
        words.push("-Wl,-z,undefs".into());
    } else {
        words.extend(runtime_words()?);
    }
    Ok(exit_code(compiler.run(&words)?))
}

/// The whole runtime, seen by shared libraries too.
fn runtime_words() -> Result<Vec<OsString>, DriverError> {
    let archive = runtime_archive().map_err(DriverError::Runtime)?;
    let words = ["-Wl,--whole-archive".into(), archive.into(), "-Wl,--no-whole-archive".into()];
    let options = ["-rdynamic", "-Wl,--build-id", "-pthread", "-ldl"].map(OsString::from);
    Ok(words.into_iter().chain(options).collect())
}
