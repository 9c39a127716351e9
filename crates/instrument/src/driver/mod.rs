//! `foretrace cc` and `foretrace c++`, in place of the compiler.
//!
//! Each source is compiled to bitcode by clang and instrumented; what is none of our business (preprocessing, questions
//! about the compiler, assembly) clang does as if it had been called itself.

mod arguments;
mod compile;
mod link;
mod output;
mod response;
pub mod rust;
mod tools;

pub use tools::{Language, exit_code};

use crate::instrument::InstrumentError;
use crate::locks::names::{BadRule, LockNames};
use crate::runtime::include_folder;
use arguments::{Arguments, Content, Goal, Part};
use compile::Job;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use tools::{Compiler, Make};

/// Why the compiler could not do its work; what the compiler itself complains of is not among it.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// None.
    #[error("no {program} was found on the path: install {wanted}, or name one in {variable}")]
    NoCompiler {
        /// What would do.
        wanted: &'static str,
        /// Its usual name.
        program: &'static str,
        /// What names one.
        variable: &'static str,
    },
    /// The one that the user names is none.
    #[error("{variable} names {}, which is no program", named.to_string_lossy())]
    NoSuchCompiler {
        /// What it says.
        named: OsString,
        /// What says so.
        variable: &'static str,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {}", .0.display(), .1)]
    Read(PathBuf, #[source] std::io::Error),
    /// An archive cannot be read.
    #[error("cannot read {}: {}", .0.display(), .1)]
    Archive(PathBuf, #[source] object::Error),
    /// It cannot be started.
    #[error("cannot run {}: {}", .0.display(), .1)]
    Run(PathBuf, #[source] std::io::Error),
    /// A file cannot be written.
    #[error("cannot write {}: {}", .0.display(), .1)]
    Write(PathBuf, #[source] std::io::Error),
    /// The instrumenter says no.
    #[error("{file}: {source}")]
    Instrument {
        /// The source.
        file: String,
        /// Why.
        source: InstrumentError,
    },
    /// Functions of a static C library cannot be interposed.
    #[error("{0}: a program without shared libraries cannot be recorded; link it without this option")]
    Static(String),
    /// What is said of locks cannot be understood.
    #[error("functions of locks: {0}")]
    Lock(#[source] BadRule),
    /// gcc's hooks come between all of a program's code.
    #[error("--lock needs clang: what gcc compiles cannot be told to leave functions of locks alone")]
    LockWithGcc,
    /// The runtime cannot be put anywhere.
    #[error("cannot write the runtime to a cache folder or a temporary one: {0}")]
    Runtime(#[source] std::io::Error),
}

/// What the driver knows beside its command line.
pub struct Environment {
    /// Where to keep bitcode.
    keep: Option<PathBuf>,
    /// The folder with `foretrace.h`.
    include: PathBuf,
    /// Functions of locks, by `--lock`.
    locks: LockNames,
}

impl Environment {
    fn read() -> Result<Environment, DriverError> {
        let keep = std::env::var_os("FORETRACE_KEEP").filter(|value| !value.is_empty()).map(PathBuf::from);
        let include = include_folder().map_err(DriverError::Runtime)?;
        Ok(Environment { keep, include, locks: LockNames::default() })
    }

    /// What the preprocessor is told.
    fn definitions(&self) -> [OsString; 3] {
        ["-D__FORETRACE__=1".into(), "-idirafter".into(), self.include.clone().into()]
    }
}

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
        Goal::Link => program(&arguments, &compiler, &environment, scratch.path()),
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
    for (file, content, language) in compiled(arguments) {
        let object = arguments.output.clone().unwrap_or_else(|| default_name(file, content).into());
        let job = Job { arguments, file, content, language, object: Path::new(&object), target: &object };
        worst = worst.max(job.run(compiler, environment)?);
    }
    Ok(worst)
}

/// Objects in a folder of ours, linked.
fn program(
    arguments: &Arguments,
    compiler: &Compiler,
    environment: &Environment,
    scratch: &Path,
) -> Result<u8, DriverError> {
    if let Some((file, content, language)) = compiled(arguments).find(|(_, content, _)| **content == Content::Header) {
        let object = arguments.output.clone().unwrap_or_else(|| default_name(file, content).into());
        let job = Job { arguments, file, content, language, object: Path::new(&object), target: &object };
        return job.run(compiler, environment);
    }
    let mut made = Vec::new();
    for ((file, content, language), number) in compiled(arguments).zip(0..) {
        let object = scratch.join(format!("{number}.o"));
        let default = default_name(file, content);
        let target = arguments.output.as_deref().unwrap_or(default.as_os_str());
        let job = Job { arguments, file, content, language, object: &object, target };
        match job.run(compiler, environment)? {
            0 => made.push(object),
            code => return Ok(code),
        }
    }
    link::link(arguments, compiler, made)
}

/// The files to compile, with what they hold.
fn compiled(arguments: &Arguments) -> impl Iterator<Item = (&OsStr, &Content, Option<&OsStr>)> {
    arguments.parts.iter().filter_map(|part| match part {
        Part::Compiled { file, content, language } => Some((file.as_os_str(), content, language.as_deref())),
        _ => None,
    })
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
