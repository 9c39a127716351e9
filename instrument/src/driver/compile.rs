//! One source file to one object: clang makes bitcode of it, which is instrumented; gcc instruments by itself.

use super::arguments::{Arguments, Content, Part};
use super::tools::{Compiler, Make, exit_code};
use super::{DriverError, Environment, output};
use crate::instrument::{Options, instrument};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What makes clang's bitcode say what the source says.
const FAITHFUL: [&str; 3] = ["-O0", "-Xclang", "-disable-O0-optnone"];
/// What keeps accesses of an optimised program one by one.
const AS_SHIPPED: [&str; 5] =
    ["-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-Xclang", "-disable-O0-optnone"];
/// What makes gcc call our hooks, which it believes to be those of its own runtime.
const HOOKS: [&str; 5] = ["-fsanitize=thread", "-g", "-U_FORTIFY_SOURCE", "-fno-lto", "-Wno-tsan"];
/// Names and positions for reports; no calls of checking variants of libc functions, no bitcode for the linker.
const ALWAYS: [&str; 5] =
    ["-g", "-fno-discard-value-names", "-U_FORTIFY_SOURCE", "-fno-lto", "-Wno-unused-command-line-argument"];

/// A file to compile.
pub struct Job<'a> {
    /// The whole command line.
    pub arguments: &'a Arguments,
    /// The file.
    pub file: &'a OsStr,
    /// What it holds.
    pub content: &'a Content,
    /// What `-x` said of it.
    pub language: Option<&'a OsStr>,
    /// The object to make.
    pub object: &'a Path,
    /// What dependency files call the result.
    pub target: &'a OsStr,
}

impl Job<'_> {
    /// Compiles; the exit code of the compiler if that is not 0.
    pub fn run(&self, compiler: &Compiler, environment: &Environment) -> Result<u8, DriverError> {
        if *self.content == Content::Source && compiler.make == Make::Clang {
            return self.bitcode(compiler, environment);
        }
        let mut words = self.words(compiler.make, environment);
        words.extend(["-o".into(), self.object.into()]);
        if *self.content != Content::Header {
            words.push("-c".into());
        }
        Ok(exit_code(compiler.run(&words)?))
    }

    fn bitcode(&self, clang: &Compiler, environment: &Environment) -> Result<u8, DriverError> {
        let mut words = self.words(Make::Clang, environment);
        words.extend(["-emit-llvm", "-c", "-o", "-"].map(OsString::from));
        let made = clang.capture(&words)?;
        if !made.status.success() {
            return Ok(exit_code(made.status));
        }
        self.keep_bitcode(environment, &made.stdout)?;
        let name = self.file.to_string_lossy();
        let options = Options { as_shipped: self.arguments.as_shipped, ..Options::default() };
        let instrumented = instrument(&made.stdout, &name, options)
            .map_err(|source| DriverError::Instrument { file: name.clone().into_owned(), source })?;
        output::write(self.object, &instrumented.object)?;
        Ok(0)
    }

    /// What the compiler is told in any case.
    fn words(&self, make: Make, environment: &Environment) -> Vec<OsString> {
        let mut words = Vec::new();
        let mut fast_math = false;
        for part in &self.arguments.parts {
            match part {
                Part::Shared(part) | Part::Dependencies(part) => words.extend_from_slice(part),
                Part::Level(level) if self.arguments.as_shipped => words.push(level.clone()),
                Part::Level(level) => fast_math = level == "-Ofast",
                Part::Compiled { .. } | Part::Linked(_) => {}
            }
        }
        if *self.content != Content::Assembly {
            let mode: &[&str] = match (make, self.arguments.as_shipped) {
                (Make::Clang, true) => &AS_SHIPPED,
                (Make::Clang, false) => &FAITHFUL,
                (Make::Gcc, true) => &[],
                (Make::Gcc, false) => &FAITHFUL[..1],
            };
            words.extend(mode.iter().map(OsString::from));
            words.extend(fast_math.then(|| "-ffast-math".into()));
        }
        match make {
            Make::Clang => words.extend(ALWAYS.map(OsString::from)),
            Make::Gcc => words.extend(HOOKS.map(OsString::from)),
        }
        words.extend(environment.definitions());
        words.extend(self.dependencies());
        words.extend(self.language.iter().flat_map(|language| ["-x".into(), OsString::from(language)]));
        words.push(self.file.into());
        words
    }

    /// The names that a dependency file and its target would have, where the user does not say.
    fn dependencies(&self) -> Vec<OsString> {
        let parts = self.arguments.parts.iter().filter_map(|part| match part {
            Part::Dependencies(words) => words.first().and_then(|word| word.to_str()),
            _ => None,
        });
        let options: Vec<&str> = parts.collect();
        let says = |starts: &[&str]| options.iter().any(|option| starts.iter().any(|start| option.starts_with(start)));
        let mut words = Vec::new();
        if !says(&["-MD", "-MMD", "-Wp,-MD", "-Wp,-MMD"]) {
            return words;
        }
        if !says(&["-MF", "-Wp,-MD,", "-Wp,-MMD,"]) {
            words.extend(["-MF".into(), Path::new(self.target).with_extension("d").into()]);
        }
        if !says(&["-MT", "-MQ", "-Wp,-MT", "-Wp,-MQ"]) {
            words.extend(["-MQ".into(), self.target.into()]);
        }
        words
    }

    /// Keeps the bitcode for whoever looks for a defect of ours.
    fn keep_bitcode(&self, environment: &Environment, bitcode: &[u8]) -> Result<(), DriverError> {
        let Some(folder) = &environment.keep else { return Ok(()) };
        let name: PathBuf = self.target.into();
        let mut name = name.file_name().unwrap_or(OsStr::new("stdin")).to_owned();
        name.push(".bc");
        std::fs::create_dir_all(folder).map_err(|error| DriverError::Write(folder.clone(), error))?;
        output::write(&folder.join(name), bitcode)
    }
}
