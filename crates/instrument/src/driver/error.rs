//! Errors of the compiler driver.

use crate::instrument::InstrumentError;
use crate::locks::names::BadRule;
use std::ffi::OsString;
use std::path::PathBuf;

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
    /// The compiler does not take sources of ours that C++ programs get.
    #[error(
        "the compiler does not compile what foretrace adds to C++ programs; `-nostdlib++ -lstdc++` links without it"
    )]
    Library,
    /// The runtime cannot be put anywhere.
    #[error("cannot write the runtime to a cache folder or a temporary one: {0}")]
    Runtime(#[source] std::io::Error),
}
