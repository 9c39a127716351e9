//! One source file to one object: clang makes bitcode of it, which is instrumented; gcc instruments by itself.

use super::arguments::{Argument, Arguments, Content};
use super::environment::Environment;
use super::error::DriverError;
use super::output;
use super::tools::{Compiler, Make, exit_code};
use crate::instrument::{Level, Options, instrument};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What makes clang's bitcode say what the source says, with all that optimisation wants to know later.
const FAITHFUL: [&str; 4] = ["-Xclang", "-disable-llvm-passes", "-Xclang", "-disable-lifetime-markers"];
/// The same where clang's own passes have to insert code.
const FAITHFUL_WITH_PASSES: [&str; 3] = ["-O0", "-Xclang", "-disable-O0-optnone"];
/// Starts of the options that ask for such code.
const INSERTING: [&str; 6] =
    ["-fsanitize=", "-fprofile-", "-fcoverage-", "-ftest-coverage", "--coverage", "-finstrument-functions"];
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
        let level = self.level().0;
        let mut locks = environment.locks.clone();
        locks.add_file_for(Path::new(self.file)).map_err(DriverError::Lock)?;
        let options = Options { as_shipped: self.arguments.as_shipped, level, locks, ..Options::default() };
        let instrumented = instrument(&made.stdout, &name, options)
            .map_err(|source| DriverError::Instrument { file: name.clone().into_owned(), source })?;
        if let Some(function) = instrumented.assembly.first() {
            let more = match instrumented.assembly.len() {
                1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            eprintln!(
                "foretrace: note: {name}: assembly in {function}{more} may order threads in a way that is not seen; verdicts that \
                 rest on it say so"
            );
        }
        output::write(self.object, &instrumented.object)?;
        Ok(0)
    }

    /// The level that the user asks for, or the least that optimises; and how he said it.
    fn level(&self) -> (Level, Option<&str>) {
        let mut levels = self.arguments.parts.iter().filter_map(|part| match part {
            Argument::Level(level) => level.to_str(),
            _ => None,
        });
        let said = levels.next_back();
        let level = match said {
            Some("-O" | "-O0" | "-O1" | "-Og") | None => Level::One,
            Some("-Os") => Level::Small,
            Some("-Oz") => Level::Smallest,
            Some("-O2") => Level::Two,
            Some(_) => Level::Three,
        };
        (level, said)
    }

    /// What the compiler is told in any case.
    fn words(&self, make: Make, environment: &Environment) -> Vec<OsString> {
        let mut words = Vec::new();
        for part in &self.arguments.parts {
            match part {
                Argument::Shared(part) | Argument::Dependencies(part) => words.extend_from_slice(part),
                Argument::Level(level) => words.push(level.clone()),
                Argument::Compiled { .. } | Argument::Linked(_) => {}
            }
        }
        if *self.content != Content::Assembly {
            words.extend(self.mode(make).into_iter().map(OsString::from));
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

    /// What makes code of the kind that is instrumented, after the user's own level.
    fn mode(&self, make: Make) -> Vec<&'static str> {
        match (make, self.arguments.as_shipped) {
            (Make::Gcc, true) => return Vec::new(),
            (Make::Gcc, false) => return vec!["-O0"],
            (Make::Clang, true) => return AS_SHIPPED.to_vec(),
            (Make::Clang, false) => {}
        }
        let (level, said) = self.level();
        let shared = self.arguments.parts.iter().filter_map(|part| match part {
            Argument::Shared(words) => words.first().and_then(|word| word.to_str()),
            _ => None,
        });
        let inserts = shared.into_iter().any(|word| INSERTING.iter().any(|start| word.starts_with(start)));
        let fast_math = (said == Some("-Ofast")).then_some("-ffast-math");
        if inserts {
            return FAITHFUL_WITH_PASSES.into_iter().chain(fast_math).collect();
        }
        let least = (level == Level::One).then_some("-O1");
        least.into_iter().chain(FAITHFUL).collect()
    }

    /// The names that a dependency file and its target would have, where the user does not say.
    fn dependencies(&self) -> Vec<OsString> {
        let parts = self.arguments.parts.iter().filter_map(|part| match part {
            Argument::Dependencies(words) => words.first().and_then(|word| word.to_str()),
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

    /// Keeps the bitcode for those who look for a defect of ours.
    fn keep_bitcode(&self, environment: &Environment, bitcode: &[u8]) -> Result<(), DriverError> {
        let Some(folder) = &environment.keep else { return Ok(()) };
        let name: PathBuf = self.target.into();
        let mut name = name.file_name().unwrap_or(OsStr::new("stdin")).to_owned();
        name.push(".bc");
        std::fs::create_dir_all(folder).map_err(|error| DriverError::Write(folder.clone(), error))?;
        output::write(&folder.join(name), bitcode)
    }
}
