//! `foretrace cc` and `foretrace c++`, in place of the compiler.
//!
//! clang compiles each source to bitcode, which is then instrumented. Everything else (preprocessing, questions about the compiler,
//! assembly) clang does as if it had been called itself.

mod arguments;
mod compile;
mod cxx_library;
mod environment;
mod error;
mod link;
mod output;
mod response;
pub mod rust;
mod tools;

pub use error::DriverError;
pub use tools::{Language, exit_code};

use arguments::{Arguments, Content, Goal};
use compile::Job;
use environment::Environment;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use tools::{Compiler, Make};

/// Does what the compiler would do with these words; the exit code.
pub fn run(language: Language, words: Vec<OsString>) -> Result<u8, DriverError> {
    let mut arguments = Arguments::parse(response::expand(words));
    arguments.as_shipped |= std::env::var_os("FORETRACE_AS_SHIPPED").is_some_and(|value| value == "1");
    let mut environment = Environment::read()?;
    for rule in &arguments.locks {
        environment.locks.add(rule).map_err(DriverError::Lock)?;
    }
    if arguments.print_include {
        println!("{}", environment.include.display());
        return Ok(0);
    }
    let scratch = tempfile::Builder::new().prefix("foretrace-").tempdir();
    let scratch = scratch.map_err(|error| DriverError::Write(std::env::temp_dir(), error))?;
    let compiler = choose(&mut arguments, language, scratch.path())?;
    if compiler.make == Make::Gcc && !arguments.locks.is_empty() {
        return Err(DriverError::LockWithGcc);
    }
    for note in &arguments.notes {
        eprintln!("foretrace: note: {note}");
    }
    match arguments.goal {
        Goal::Straight => straight(&arguments, &compiler, &environment),
        Goal::Objects => objects(&arguments, &compiler, &environment),
        Goal::Link => program(&arguments, language, &compiler, &environment, scratch.path()),
    }
}

/// clang, unless gcc was asked for or is all there is.
fn choose(arguments: &mut Arguments, language: Language, scratch: &Path) -> Result<Compiler, DriverError> {
    arguments.gcc |= std::env::var_os("FORETRACE_CC").is_some_and(|value| value == "gcc");
    if arguments.gcc {
        return Compiler::find(Make::Gcc, language, scratch);
    }
    let (compiler, missing) = Compiler::find_any(language, scratch)?;
    if let Some(missing) = missing.filter(|_| arguments.goal != Goal::Straight) {
        arguments.notes.push(format!("built with gcc, so that traces hold values only, no expressions: {missing}"));
    }
    Ok(compiler)
}

/// Leaves everything to the compiler.
fn straight(arguments: &Arguments, compiler: &Compiler, environment: &Environment) -> Result<u8, DriverError> {
    let mut words = arguments.words.clone();
    if arguments.compiled().next().is_some() {
        words.extend(environment.definitions());
    }
    Ok(exit_code(compiler.run(&words)?))
}

/// An object for each source.
fn objects(arguments: &Arguments, compiler: &Compiler, environment: &Environment) -> Result<u8, DriverError> {
    if arguments.output.is_some() && arguments.compiled().count() != 1 {
        return straight(arguments, compiler, environment); // it says what is wrong
    }
    let mut worst = 0;
    for (file, content, language) in arguments.sources() {
        let object = arguments.output.clone().unwrap_or_else(|| default_name(file, content).into());
        let job = Job { arguments, file, content, language, object: Path::new(&object), target: &object };
        worst = worst.max(job.run(compiler, environment)?);
    }
    Ok(worst)
}

/// Objects in a folder of ours, linked.
fn program(
    arguments: &Arguments,
    language: Language,
    compiler: &Compiler,
    environment: &Environment,
    scratch: &Path,
) -> Result<u8, DriverError> {
    if let Some((file, content, language)) = arguments.sources().find(|(_, content, _)| **content == Content::Header) {
        let object = arguments.output.clone().unwrap_or_else(|| default_name(file, content).into());
        let job = Job { arguments, file, content, language, object: Path::new(&object), target: &object };
        return job.run(compiler, environment);
    }
    let mut made = Vec::new();
    for ((file, content, language), number) in arguments.sources().zip(0..) {
        let object = scratch.join(format!("{number}.o"));
        let default = default_name(file, content);
        let target = arguments.output.as_deref().unwrap_or(default.as_os_str());
        let job = Job { arguments, file, content, language, object: &object, target };
        match job.run(compiler, environment)? {
            0 => made.push(object),
            code => return Ok(code),
        }
    }
    let library = cxx_library::objects(arguments, language, compiler, environment, scratch)?;
    link::link(arguments, compiler, made, library)
}

/// What the compiler calls its result unless it is told.
fn default_name(file: &OsStr, content: &Content) -> PathBuf {
    match content {
        Content::Header => {
            let mut name = file.to_owned();
            name.push(".gch");
            name.into()
        }
        Content::Source | Content::Assembly => {
            Path::new(file).with_extension("o").file_name().unwrap_or(OsStr::new("a.o")).into()
        }
    }
}
